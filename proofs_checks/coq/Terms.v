(** What terms of typed statements mean beside the definitions of the other libraries. *)
Require Import Reals Lra Lia List Bool Psatz ZArith Binomial.
From Coquelicot Require Import Continuity Derive RInt RInt_analysis Hierarchy AutoDerive.
From DPExact Require Import Finite Response Sampling Gaussian Analysis Losses Composing Testing.
From DPExact Require Import Tradeoff.
Import ListNotations.
Open Scope R_scope.

(** The largest value of f on a list; 0 on the empty list. *)
Fixpoint largest {A} (l : list A) (f : A -> R) : R :=
  match l with
  | [] => 0
  | [a] => f a
  | a :: t => Rmax (f a) (largest t f)
  end.

Fixpoint choose (n k : nat) : nat :=
  match n, k with
  | _, O => 1
  | O, S _ => 0
  | S m, S j => choose m j + choose m (S j)
  end.

Definition booleans : list bool := [false; true].
Definition coin (p : R) (b : bool) : R := if b then p else 1 - p.
Definition total_variation {A} (l : list A) (P Q : A -> R) : R :=
  sum l (fun a => Rabs (P a - Q a)) / 2.
(** The sum of P^t Q^(1 - t). *)
Definition moment {A} (l : list A) (t : R) (P Q : A -> R) : R :=
  sum l (fun a => P a * exp ((t - 1) * ln (P a / Q a))).
(** x^y, of x = 0, too; exp (y * ln x) where x > 0. *)
Definition real_power (x y : R) : R :=
  if Req_EM_T x 0 then (if Req_EM_T y 0 then 1 else 0) else exp (y * ln x).
Definition erf (x : R) : R := 2 * Phi (x * sqrt 2) - 1.

Lemma largest_below {A} (l : list A) f c : largest l f <= c -> forall a, In a l -> f a <= c.
Proof.
  induction l as [|a [|b t] IH]; intros H x I; [contradiction| |].
  - destruct I as [<-|[]]. exact H.
  - change (Rmax (f a) (largest (b :: t) f) <= c) in H.
    pose proof (Rmax_l (f a) (largest (b :: t) f)). pose proof (Rmax_r (f a) (largest (b :: t) f)).
    destruct I as [<-|I]; [lra|]. apply IH; auto. lra.
Qed.

Lemma total_variation_HS {A} (l : list A) P Q : law l P -> law l Q ->
  total_variation l P Q = HS l 1 P Q.
Proof. intros. symmetry. apply HS_total_variation; auto. Qed.

Lemma moment_mean {A} (l : list A) P Q t : moment l t P Q = mean l P Q (fun z => exp ((t - 1) * z)).
Proof. reflexivity. Qed.

Lemma coin_law p : 0 <= p <= 1 -> law booleans (coin p).
Proof. intros H. split; [intros [|] _; simpl; lra|simpl; lra]. Qed.

(** * Binomial coefficients *)

Lemma choose_0 n : choose n 0 = 1%nat.
Proof. destruct n; auto. Qed.

Lemma choose_above n : forall k, (n < k)%nat -> choose n k = 0%nat.
Proof.
  induction n; intros [|k] H; simpl; auto; try lia. rewrite !IHn; lia.
Qed.

Lemma C_all n : C n n = 1.
Proof.
  unfold C. rewrite Nat.sub_diag. change (INR (fact 0)) with 1. field. apply INR_fact_neq_0.
Qed.

Lemma choose_C n : forall k, (k <= n)%nat -> INR (choose n k) = C n k.
Proof.
  induction n; intros k H.
  - replace k with O by lia. rewrite C_all. auto.
  - destruct k as [|k].
    + rewrite choose_0. unfold C. rewrite Nat.sub_0_r. change (INR (fact 0)) with 1.
      change (INR 1) with 1. field. apply INR_fact_neq_0.
    + change (choose (S n) (S k)) with (choose n k + choose n (S k))%nat.
      rewrite plus_INR, IHn by lia. destruct (Nat.eq_dec k n) as [->|N].
      * rewrite choose_above, !C_all by lia. simpl. ring.
      * rewrite IHn by lia. apply Binomial.pascal. lia.
Qed.

Lemma choose_mirror n k : (k <= n)%nat -> choose n k = choose n (n - k).
Proof.
  intros H. apply INR_eq. rewrite !choose_C by lia. apply pascal_step1. auto.
Qed.

(** * What the proofs of typed statements share *)

Lemma minus_one x y : x + (- 1) * y = x - y.
Proof. ring. Qed.

Lemma less_one x : x + (- 1) = x - 1.
Proof. ring. Qed.

Lemma sum_above {A} (l : list A) f a : (forall b, In b l -> 0 <= f b) -> In a l -> f a <= sum l f.
Proof.
  induction l as [|b l IH]; intros N I; [contradiction|]. simpl.
  assert (0 <= sum l f) by (apply sum_nonneg; intros; apply N; right; auto).
  destruct I as [->|I]; [lra|]. pose proof (N b (or_introl eq_refl)).
  assert (f a <= sum l f) by (apply IH; auto; intros; apply N; right; auto). lra.
Qed.

Lemma tanh_is_half x : tanh (x / 2) = Analysis.tanh_half x.
Proof.
  unfold tanh, sinh, cosh, Analysis.tanh_half. pose proof (exp_pos (x / 2)).
  replace x with (x / 2 + x / 2) at 5 6 by field. rewrite exp_plus, exp_Ropp. field.
  split; nra.
Qed.

Lemma expectation_mixed {A} (l : list A) p P Q f :
  expectation l (Sampling.mixed p P Q) f = p * expectation l P f + (1 - p) * expectation l Q f.
Proof.
  unfold expectation, Sampling.mixed. rewrite <- !sum_scale, <- sum_plus. apply sum_ext.
  intros. ring.
Qed.

(** A second, independent step that is lost with probability d and says nothing otherwise. *)
Lemma lost_product {A} (l : list A) P Q d g : law l P -> law l Q -> 0 <= d <= 1 -> 0 <= g ->
  HS (list_prod l letters) g (product Q (response1 1 d)) (product P (response0 1 d)) =
  d + (1 - d) * HS l g Q P.
Proof.
  intros HP HQ Hd Hg. unfold HS, product, joint. rewrite sum_prod. simpl.
  transitivity (sum l (fun a => d * Q a + (1 - d) * positive_part (Q a - g * P a))).
  - apply sum_ext. intros a Ha. destruct HP as [NP _], HQ as [NQ _].
    pose proof (NP a Ha). pose proof (NQ a Ha).
    rewrite (positive_part_of_nonpos (Q a * 0 - g * (P a * d))).
    2:{ assert (0 <= g * (P a * d)) by (repeat apply Rmult_le_pos; lra). lra. }
    rewrite (positive_part_of_nonneg (Q a * d - g * (P a * 0))).
    2:{ assert (0 <= Q a * d) by (apply Rmult_le_pos; lra). lra. }
    replace (Q a * ((1 - d) / (1 + 1)) - g * (P a * ((1 - d) * 1 / (1 + 1))))
      with ((1 - d) / 2 * (Q a - g * P a)) by field.
    replace (Q a * ((1 - d) * 1 / (1 + 1)) - g * (P a * ((1 - d) / (1 + 1))))
      with ((1 - d) / 2 * (Q a - g * P a)) by field.
    rewrite positive_part_scale by lra. field.
  - rewrite sum_plus, !sum_scale. destruct HQ as [_ ->]. ring.
Qed.

Lemma HS_swap {A B} (l : list A) (m : list B) g P Q R0 R1 :
  HS (list_prod l m) g (product P R0) (product Q R1) =
  HS (list_prod m l) g (product R0 P) (product R1 Q).
Proof.
  unfold HS. rewrite !sum_prod, sum_swap. apply sum_ext. intros b _. apply sum_ext. intros a _.
  unfold product, joint. simpl. f_equal. ring.
Qed.

Lemma HS_assoc {A B C} (l : list A) (m : list B) (n : list C) g P Q R0 R1 V W :
  HS (list_prod (list_prod l m) n) g (product (product P R0) V) (product (product Q R1) W) =
  HS (list_prod l (list_prod m n)) g (product P (product R0 V)) (product Q (product R1 W)).
Proof.
  unfold HS. rewrite !sum_prod. apply sum_ext. intros a _. rewrite sum_prod. apply sum_ext.
  intros b _. apply sum_ext. intros c _. unfold product, joint. simpl. f_equal. ring.
Qed.

Lemma HS_with_same {A B} (l : list A) (m : list B) g P Q V : law m V ->
  HS (list_prod l m) g (product P V) (product Q V) = HS l g P Q.
Proof.
  intros [N S]. unfold HS. rewrite sum_prod. apply sum_ext. intros a _.
  transitivity (sum m (fun b => V b * positive_part (P a - g * Q a))).
  - apply sum_ext. intros b Hb. unfold product, joint. simpl.
    rewrite <- positive_part_scale by auto. f_equal. ring.
  - rewrite sum_scale_r, S. ring.
Qed.

Lemma total_variation_sym {A} (l : list A) P Q : total_variation l P Q = total_variation l Q P.
Proof.
  unfold total_variation. f_equal. apply sum_ext. intros. apply Rabs_minus_sym.
Qed.

Lemma divergence_above_gap {A} (l : list A) P Q g : law l P -> law l Q -> 1 - g <= HS l g P Q.
Proof.
  intros [_ HP] [_ HQ]. pose proof (HS_above l g P Q (fun _ => true)) as H.
  change (sum l P - g * sum l Q <= HS l g P Q) in H. rewrite HP, HQ in H. lra.
Qed.

(** The test that is sure where the second step is lost. *)
Lemma lost_test {A} (l : list A) P Q d f : law l Q -> 0 <= d <= 1 -> test l f ->
  exists h, test (list_prod l letters) h /\
    expectation (list_prod l letters) (product P (response0 1 d)) h = (1 - d) * expectation l P f /\
    expectation (list_prod l letters) (product Q (response1 1 d)) h =
      d + (1 - d) * expectation l Q f.
Proof.
  intros [NQ SQ] Hd T.
  exists (fun x => match snd x with Lost0 => 0 | Lost1 => 1 | _ => f (fst x) end). split; [|split].
  - intros [a x] I. apply in_prod_iff in I as [I _]. pose proof (T a I). destruct x; simpl; lra.
  - unfold expectation, product, joint. rewrite sum_prod, <- sum_scale. apply sum_ext.
    intros a _. simpl. field.
  - transitivity (sum l (fun a => d * Q a + (1 - d) * (Q a * f a))).
    + unfold expectation, product, joint. rewrite sum_prod. apply sum_ext. intros a _. simpl. field.
    + rewrite sum_plus, !sum_scale, SQ. unfold expectation. ring.
Qed.

Definition positive_kernel {A B} (l : list A) (m : list B) (K : A -> B -> R) : Prop :=
  forall a, In a l -> positive_law m (K a).
Definition positive_steps_of {A} (l : list A) (K : list A -> A -> R) : Prop :=
  forall h, positive_law l (K h).

Lemma largest_ext {A} (l : list A) f g : (forall a, f a = g a) -> largest l f = largest l g.
Proof.
  intros H. induction l as [|a [|b t] IH]; simpl; auto.
  change (Rmax (f a) (largest (b :: t) f) = Rmax (g a) (largest (b :: t) g)). rewrite IH, H. auto.
Qed.

(** * The normal distribution function *)

Lemma Phi_0 : Phi 0 = 1 / 2.
Proof.
  unfold Phi, bell. rewrite RInt_point. unfold zero; simpl. field.
  apply Rgt_not_eq, sqrt_lt_R0. pose proof PI_RGT_0. lra.
Qed.

Lemma Phi_slope x : is_derive Phi x (exp (- (x * x) / 2) / sqrt (2 * PI)).
Proof.
  assert (0 < sqrt (2 * PI)) by (apply sqrt_lt_R0; pose proof PI_RGT_0; lra).
  assert (K : forall t, continuous (fun t => exp (- (t * t) / 2)) t).
  { intros t. apply (ex_derive_continuous (fun t => exp (- (t * t) / 2))). auto_derive. auto. }
  assert (B : is_derive bell x (exp (- (x * x) / 2))).
  { apply (is_derive_RInt (fun t => exp (- (t * t) / 2)) bell 0 x); [|apply K].
    exists (mkposreal 1 Rlt_0_1). intros y _. apply (RInt_correct (fun t => exp (- (t * t) / 2))).
    apply (ex_RInt_continuous (fun t => exp (- (t * t) / 2))). intros z _. apply K. }
  unfold Phi. auto_derive; [exists (exp (- (x * x) / 2)); auto|].
  replace (Derive (fun x => bell x) x) with (exp (- (x * x) / 2)); [field; lra|].
  symmetry. apply is_derive_unique. auto.
Qed.

Lemma Phi_chain f x d : is_derive f x d ->
  is_derive (fun x => Phi (f x)) x (exp (- (f x * f x) / 2) / sqrt (2 * PI) * d).
Proof.
  intros D. rewrite Rmult_comm. exact (is_derive_comp Phi f x _ _ (Phi_slope (f x)) D).
Qed.
