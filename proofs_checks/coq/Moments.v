(** Events, moments and orders of privacy losses between laws under which all outcomes are possible. *)
Require Import Reals Lra Lia List Bool Psatz.
From DPExact Require Import Finite Sampling Analysis Losses Testing Terms.
Import ListNotations.
Open Scope R_scope.

Lemma pure_pointwise {A} (l : list A) P Q E : HS l E P Q <= 0 ->
  forall a, In a l -> P a <= E * Q a.
Proof.
  intros H a Ha. pose proof (sum_above l (fun b => positive_part (P b - E * Q b)) a
    (fun b _ => positive_part_nonneg _) Ha) as S. cbv beta in S. fold (HS l E P Q) in S.
  pose proof (positive_part_above (P a - E * Q a)). lra.
Qed.

Lemma exp_minus_scale x a b : exp (- 1 * x) * a <= b <-> a <= exp x * b.
Proof.
  replace (- 1 * x) with (- x) by ring. rewrite exp_Ropp. pose proof (exp_pos x) as E.
  assert (I : exp x * / exp x = 1) by (apply Rinv_r; lra).
  assert (J : 0 < / exp x) by (apply Rinv_0_lt_compat; auto). split; intros H.
  - apply (Rmult_le_compat_l (exp x)) in H; [|lra]. rewrite <- Rmult_assoc, I in H. lra.
  - apply (Rmult_le_compat_l (/ exp x)) in H; [|lra].
    rewrite <- Rmult_assoc, (Rmult_comm (/ exp x) (exp x)), I in H. lra.
Qed.

(** The loss is at most x surely. *)
Lemma sure_below {A} (l : list A) P Q x : positive_law l P -> HS l (exp x) P Q <= 0 ->
  probability l P (likely (exp (- 1 * x)) Q P) = 1.
Proof.
  intros [NP SP] H. rewrite <- SP. apply sum_ext. intros a Ha. unfold likely.
  destruct (Rle_dec (exp (- 1 * x) * P a) (Q a)) as [|N]; auto. exfalso. apply N.
  apply exp_minus_scale. apply (pure_pointwise l P Q _ H a Ha).
Qed.

Lemma below_sure {A} (l : list A) P Q x : positive_law l P ->
  probability l P (likely (exp (- 1 * x)) Q P) = 1 -> HS l (exp x) P Q <= 0.
Proof.
  intros HP H. rewrite (probability_not l P _ (positive_law_law l P HP)) in H.
  apply Req_le. transitivity (sum l (fun _ => 0)); [|apply sum_zero]. apply sum_ext. intros a Ha.
  apply positive_part_of_nonpos.
  assert (S : (if negb (likely (exp (- 1 * x)) Q P a) then P a else 0) <= 0).
  { eapply Rle_trans; [apply (sum_above l (fun b => if negb (likely (exp (- 1 * x)) Q P b)
      then P b else 0) a); auto|].
    - intros b Hb. destruct HP as [NP _]. pose proof (NP b Hb).
      destruct (negb (likely (exp (- 1 * x)) Q P b)); lra.
    - unfold probability in H. lra. }
  unfold likely in S. destruct HP as [NP _]. pose proof (NP a Ha).
  destruct (Rle_dec (exp (- 1 * x) * P a) (Q a)) as [L|L]; simpl in S; [|lra].
  apply exp_minus_scale in L. lra.
Qed.

Lemma divergence_below_tail {A} (l : list A) P Q x : positive_law l P -> positive_law l Q ->
  HS l (exp x) P Q <= 1 - probability l P (likely (exp (- 1 * x)) Q P).
Proof.
  intros HP [NQ _]. rewrite (probability_not l P) by (apply positive_law_law; auto).
  replace (1 - (1 - probability l P (fun a => negb (likely (exp (- 1 * x)) Q P a))))
    with (probability l P (fun a => negb (likely (exp (- 1 * x)) Q P a))) by ring.
  apply sum_le. intros a Ha. unfold likely. destruct HP as [NP _]. pose proof (NP a Ha).
  pose proof (NQ a Ha). pose proof (exp_pos x).
  assert (0 <= exp x * Q a) by (apply Rmult_le_pos; lra).
  destruct (Rle_dec (exp (- 1 * x) * P a) (Q a)) as [L|L]; simpl.
  - apply exp_minus_scale in L. rewrite positive_part_of_nonpos; lra.
  - apply Rmax_lub; lra.
Qed.

Lemma conversion_factor x t : 0 < t ->
  exp (- 1 * (x * t)) / (t + 1) * exp (t * ln (1 + - 1 * (1 / (t + 1)))) =
  exp (- (t * x) + t * ln t - (t + 1) * ln (t + 1)).
Proof.
  intros Ht. replace (1 + - 1 * (1 / (t + 1))) with (t / (t + 1)) by (field; lra).
  unfold Rdiv at 2. rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; lra).
  replace (- (t * x) + t * ln t - (t + 1) * ln (t + 1))
    with (- 1 * (x * t) + - ln (t + 1) + t * (ln t + - ln (t + 1))) by ring.
  rewrite !exp_plus, (exp_Ropp (ln (t + 1))), exp_ln by lra. auto.
Qed.

Lemma mean_exp_pos {A} (l : list A) P Q : positive_law l P -> forall t,
  0 < mean l P Q (fun z => exp (t * z)).
Proof.
  intros [NP SP] t. destruct l as [|a l]; [simpl in SP; lra|]. unfold mean. simpl.
  assert (0 < P a * exp (t * loss P Q a)).
  { apply Rmult_lt_0_compat; [apply NP; left; auto|apply exp_pos]. }
  assert (0 <= sum l (fun b => P b * exp (t * loss P Q b))); [|lra].
  apply sum_nonneg. intros b Hb. apply Rmult_le_pos; [|left; apply exp_pos].
  left. apply NP. right; auto.
Qed.

Lemma ln_le x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. intros H [K|<-]; [left; apply ln_increasing; auto|lra]. Qed.

Lemma positive_kernel_kernel {A B} (l : list A) (m : list B) K :
  positive_kernel l m K -> kernel l m K.
Proof. intros H a Ha. apply positive_law_law. auto. Qed.

Lemma push_positive {A B} (l : list A) (m : list B) P K :
  positive_law l P -> positive_kernel l m K -> positive_law m (push l P K).
Proof.
  intros HP HK. split.
  - intros b Hb. unfold push. destruct l as [|a l]; [destruct HP as [_ S]; simpl in S; lra|].
    simpl. assert (0 < P a * K a b).
    { apply Rmult_lt_0_compat; [apply HP; left; auto|apply (HK a); auto; left; auto]. }
    assert (0 <= sum l (fun a => P a * K a b)); [|lra]. apply sum_nonneg. intros c Hc.
    apply Rmult_le_pos; left; [apply HP; right; auto|apply (HK c); auto; right; auto].
  - apply (push_law l m P K); [apply positive_law_law; auto|apply positive_kernel_kernel; auto].
Qed.

(** Markov's inequality for the loss. *)
Lemma markov {A} (l : list A) P Q t x : positive_law l P -> positive_law l Q -> 0 <= t ->
  probability l P (likely (exp x) P Q) <= mean l P Q (fun z => exp (t * z)) * exp (- (t * x)).
Proof.
  intros HP HQ Ht. unfold mean. rewrite <- sum_scale_r. apply sum_le. intros a Ha.
  assert (X : 0 < P a) by (apply HP; auto). assert (Y : 0 < Q a) by (apply HQ; auto).
  rewrite Rmult_assoc, <- exp_plus. unfold likely. destruct (Rle_dec (exp x * Q a) (P a)) as [L|L].
  - rewrite <- (Rmult_1_r (P a)) at 1. apply Rmult_le_compat_l; [lra|]. rewrite <- exp_0.
    apply exp_le. assert (x <= loss P Q a).
    { unfold loss. rewrite <- (ln_exp x). apply ln_le; [apply exp_pos|].
      apply Rmult_le_reg_r with (Q a); auto. replace (P a / Q a * Q a) with (P a) by (field; lra).
      auto. }
    assert (t * x <= t * loss P Q a) by (apply Rmult_le_compat_l; auto). lra.
  - apply Rmult_le_pos; left; [auto|apply exp_pos].
Qed.

Lemma moment_at_least_1 {A} (l : list A) P Q t : positive_law l P -> positive_law l Q -> 0 <= t ->
  1 <= mean l P Q (fun z => exp (t * z)).
Proof.
  intros HP HQ Ht. pose proof (kl_nonneg l P Q HP HQ) as K.
  apply Rle_trans with (mean l P Q (fun z => 1 * (fun _ => 1) z + t * z)).
  - rewrite (mean_linear l P Q (fun _ => 1) (fun z => z)), mean_one by auto.
    assert (0 <= t * mean l P Q (fun z => z)) by (apply Rmult_le_pos; auto). lra.
  - apply mean_le; auto. intros a _. pose proof (exp_ineq1_le (t * loss P Q a)). lra.
Qed.

(** Rényi's divergence does not fall with the order. *)
Lemma moments_rise {A} (l : list A) P Q a b : positive_law l P -> positive_law l Q ->
  1 < a -> 1 < b -> a <= b ->
  ln (moment l a P Q) / (a - 1) <= ln (moment l b P Q) / (b - 1).
Proof.
  intros HP HQ Ha Hb H. rewrite !moment_mean. set (s := a - 1). set (t := b - 1).
  assert (S : 0 < s) by (unfold s; lra). assert (T : 0 < t) by (unfold t; lra).
  assert (ST : s <= t) by (unfold s, t; lra). set (p := t / s).
  assert (P1 : 1 <= p).
  { apply Rmult_le_reg_r with s; auto. unfold p. replace (t / s * s) with t by (field; lra). lra. }
  set (M := mean l P Q (fun z => exp (s * z))).
  assert (MP : 0 < M) by (apply mean_exp_pos; auto).
  assert (K : 1 <= mean l P Q (fun z => exp (p * ln (exp (s * z) / M)))).
  { apply Rle_trans with (mean l P Q (fun z => (1 - p) * (fun _ => 1) z + p / M * exp (s * z))).
    - rewrite mean_linear, mean_one by auto. fold M. apply Req_le. field. lra.
    - apply mean_le; auto. intros x _.
      pose proof (bernoulli_real (exp (s * loss P Q x) / M) p) as B.
      assert (0 < exp (s * loss P Q x) / M) by (apply Rdiv_lt_0_compat; auto; apply exp_pos).
      specialize (B H0 P1). unfold Rdiv in *. lra. }
  assert (E : mean l P Q (fun z => exp (p * ln (exp (s * z) / M))) =
    exp (- (p * ln M)) * mean l P Q (fun z => exp (t * z))).
  { unfold mean. rewrite <- sum_scale. apply sum_ext. intros x _. unfold Rdiv at 1.
    rewrite ln_mult, ln_Rinv, ln_exp by (try apply exp_pos; try apply Rinv_0_lt_compat; auto).
    replace (p * (s * loss P Q x + - ln M)) with (- (p * ln M) + t * loss P Q x).
    - rewrite exp_plus. ring.
    - unfold p. field. lra. }
  rewrite E in K. assert (G : exp (p * ln M) <= mean l P Q (fun z => exp (t * z))).
  { apply (Rmult_le_compat_l (exp (p * ln M))) in K; [|left; apply exp_pos].
    rewrite <- Rmult_assoc, <- exp_plus in K. replace (p * ln M + - (p * ln M)) with 0 in K by ring.
    rewrite exp_0 in K. lra. }
  apply (ln_le _ _ (exp_pos _)) in G. rewrite ln_exp in G.
  apply Rmult_le_reg_r with t; auto.
  replace (ln (mean l P Q (fun z => exp (t * z))) / t * t)
    with (ln (mean l P Q (fun z => exp (t * z)))) by (field; lra).
  replace (ln M / s * t) with (p * ln M) by (unfold p; field; lra). auto.
Qed.

(** Post-processing. *)
Theorem moment_kernel {A B} (l : list A) (m : list B) K P Q t :
  positive_law l P -> positive_law l Q -> kernel l m K ->
  positive_law m (push l P K) -> positive_law m (push l Q K) -> 0 <= t ->
  mean m (push l P K) (push l Q K) (fun z => exp (t * z)) <= mean l P Q (fun z => exp (t * z)).
Proof.
  intros HP HQ HK HP1 HQ1 Ht. unfold mean.
  apply Rle_trans with (sum m (fun b => sum l (fun a => K a b * (P a * exp (t * loss P Q a))))).
  - apply sum_le. intros b Hb. assert (Pb : 0 < push l P K b) by (apply HP1; auto).
    assert (Qb : 0 < push l Q K b) by (apply HQ1; auto).
    set (r := push l P K b / push l Q K b) in *. assert (R0 : 0 < r) by (apply Rdiv_lt_0_compat; auto).
    assert (LR : loss (push l P K) (push l Q K) b = ln r) by reflexivity. rewrite LR.
    (* each term lies above its tangent at r *)
    apply Rle_trans with (sum l (fun a => K a b * (exp ((t + 1) * ln r) *
      (Q a * (1 - (t + 1)) + (t + 1) / r * P a)))).
    + apply Req_le.
      rewrite (sum_ext l _ (fun a => exp ((t + 1) * ln r) * (1 - (t + 1)) * (Q a * K a b)
        + exp ((t + 1) * ln r) * ((t + 1) / r) * (P a * K a b))) by (intros; ring).
      rewrite sum_plus, !sum_scale. fold (push l Q K b) (push l P K b).
      assert (E : push l P K b = r * push l Q K b) by (unfold r; field; lra).
      rewrite E. replace ((t + 1) * ln r) with (t * ln r + ln r) by ring.
      rewrite exp_plus, exp_ln by auto. field. lra.
    + apply sum_le. intros a Ha. destruct (HK a Ha) as [NK _].
      assert (0 < P a) by (apply HP; auto). assert (0 < Q a) by (apply HQ; auto).
      apply Rmult_le_compat_l; [auto|]. set (x := P a / Q a).
      assert (X : 0 < x) by (apply Rdiv_lt_0_compat; auto).
      pose proof (bernoulli_real (x / r) (t + 1)) as Bn.
      assert (Xr : 0 < x / r) by (apply Rdiv_lt_0_compat; auto). assert (T1 : 1 <= t + 1) by lra.
      specialize (Bn Xr T1).
      assert (LD : ln (x / r) = ln x - ln r).
      { unfold Rdiv. rewrite ln_mult, ln_Rinv by (auto; apply Rinv_0_lt_compat; auto). ring. }
      rewrite LD in Bn. apply (Rmult_le_compat_l (Q a * exp ((t + 1) * ln r))) in Bn.
      2:{ apply Rmult_le_pos; [lra|left; apply exp_pos]. }
      eapply Rle_trans; [|eapply Rle_trans; [exact Bn|]].
      * apply Req_le. unfold x. field. lra.
      * apply Req_le. rewrite Rmult_assoc, <- exp_plus.
        replace ((t + 1) * ln r + (t + 1) * (ln x - ln r)) with (t * ln x + ln x) by ring.
        rewrite exp_plus, exp_ln by auto. unfold loss. fold x. unfold x at 2. field. lra.
  - rewrite sum_swap. apply Req_le. apply sum_ext. intros a Ha. rewrite sum_scale_r.
    destruct (HK a Ha) as [_ ->]. ring.
Qed.

Lemma moment_push {A B} (l : list A) (m : list B) K P Q t : positive_law l P -> positive_law l Q ->
  positive_kernel l m K -> 0 <= t ->
  mean m (push l P K) (push l Q K) (fun z => exp (t * z)) <= mean l P Q (fun z => exp (t * z)).
Proof. intros. apply moment_kernel; auto using push_positive, positive_kernel_kernel. Qed.

(** max(0, 1 - e^(x - z)) <= e^(t (z - x)). *)
Lemma divergence_below_moment {A} (l : list A) P Q t x : positive_law l P -> positive_law l Q ->
  0 <= t -> HS l (exp x) P Q <= mean l P Q (fun z => exp (t * z)) * exp (- (t * x)).
Proof.
  intros HP HQ Ht. rewrite HS_mean by auto. unfold mean. rewrite <- sum_scale_r. apply sum_le.
  intros a Ha. assert (X : 0 < P a) by (apply HP; auto). set (z := loss P Q a).
  rewrite Rmult_assoc, <- exp_plus. apply Rmult_le_compat_l; [lra|].
  replace (t * z + - (t * x)) with (t * (z - x)) by ring. unfold positive_part. apply Rmax_lub.
  - left. apply exp_pos.
  - pose proof (exp_pos (x - z)). destruct (Rle_dec x z).
    + assert (K : 0 <= t * (z - x)) by (apply Rmult_le_pos; lra).
      pose proof (exp_at_least_1 _ K). lra.
    + assert (1 <= exp (x - z)) by (apply exp_at_least_1; lra). pose proof (exp_pos (t * (z - x))). lra.
Qed.

(** * The order 2, and sums of products *)

Lemma moment_2 {A} (l : list A) P Q : positive_law l P -> positive_law l Q ->
  moment l 2 P Q = sum l (fun a => P a * P a / Q a).
Proof.
  intros HP HQ. apply sum_ext. intros a Ha. assert (0 < P a) by (apply HP; auto).
  assert (0 < Q a) by (apply HQ; auto). replace ((2 - 1) * ln (P a / Q a)) with (ln (P a / Q a)) by ring.
  rewrite exp_ln by (apply Rdiv_lt_0_compat; auto). field. lra.
Qed.

Lemma mixed_positive {A} (l : list A) q P Q : 0 <= q <= 1 -> positive_law l P -> positive_law l Q ->
  positive_law l (mixed q P Q).
Proof.
  intros Hq HP HQ. split.
  - intros a Ha. assert (0 < P a) by (apply HP; auto). assert (0 < Q a) by (apply HQ; auto).
    unfold mixed. destruct (proj1 Hq) as [Z|<-]; [|lra].
    assert (0 < q * P a) by (apply Rmult_lt_0_compat; auto).
    assert (0 <= (1 - q) * Q a) by (apply Rmult_le_pos; lra). lra.
  - apply (mixed_law l q P Q); auto; apply positive_law_law; auto.
Qed.

Lemma moment_2_mixed {A} (l : list A) q P Q : 0 <= q <= 1 -> positive_law l P -> positive_law l Q ->
  moment l 2 (mixed q P Q) Q = 1 + q ^ 2 * (moment l 2 P Q - 1).
Proof.
  intros Hq HP HQ. rewrite !moment_2 by auto using mixed_positive.
  transitivity (sum l (fun a => q ^ 2 * (P a * P a / Q a) + 2 * q * (1 - q) * P a + (1 - q) ^ 2 * Q a)).
  - apply sum_ext. intros a Ha. assert (0 < Q a) by (apply HQ; auto). unfold mixed. field. lra.
  - rewrite !sum_plus, !sum_scale. destruct HP as [_ ->], HQ as [_ ->]. ring.
Qed.

Lemma sum_product_squared {A} (l : list A) f g : 0 < sum l (fun a => g a * g a) ->
  sum l (fun a => f a * g a) ^ 2 <= sum l (fun a => f a * f a) * sum l (fun a => g a * g a).
Proof.
  intros H. set (F := sum l (fun a => f a * f a)). set (G := sum l (fun a => g a * g a)) in *.
  set (B := sum l (fun a => f a * g a)). set (t := B / G).
  assert (N : 0 <= sum l (fun a => (f a - t * g a) * (f a - t * g a))).
  { apply sum_nonneg. intros a _. apply Rle_0_sqr. }
  assert (E : sum l (fun a => (f a - t * g a) * (f a - t * g a)) = F - 2 * t * B + t * t * G).
  { unfold F, B, G. rewrite <- !sum_scale, <- sum_minus, <- sum_plus. apply sum_ext. intros. ring. }
  rewrite E in N. assert (T : t * G = B) by (unfold t; field; lra).
  replace (2 * t * B) with (2 * (t * (t * G))) in N by (rewrite T; ring).
  assert (K : t * t * G <= F) by lra. apply (Rmult_le_compat_r G) in K; [|lra].
  replace (t * t * G * G) with (B ^ 2) in K by (rewrite <- T; ring). exact K.
Qed.

(** Cauchy and Schwarz: a third law between two. *)
Lemma moment_between {A} (l : list A) P Q W a :
  positive_law l P -> positive_law l Q -> positive_law l W ->
  moment l a P Q ^ 2 <= moment l (2 * a) P W * moment l (2 * a - 1) W Q.
Proof.
  intros HP HQ HW.
  set (f := fun x => exp (ln (P x) / 2 + (2 * a - 1) / 2 * ln (P x / W x))).
  set (g := fun x => exp (ln (W x) / 2 + (a - 1) * ln (W x / Q x))).
  assert (L : forall x, In x l -> 0 < P x /\ 0 < Q x /\ 0 < W x).
  { intros x Hx. split; [apply HP|split; [apply HQ|apply HW]]; auto. }
  assert (R : forall x y, 0 < x -> 0 < y -> ln (x / y) = ln x - ln y).
  { intros x y Hx Hy. unfold Rdiv. rewrite ln_mult, ln_Rinv by (auto; apply Rinv_0_lt_compat; auto).
    ring. }
  assert (E : moment l a P Q = sum l (fun x => f x * g x)).
  { apply sum_ext. intros x Hx. destruct (L x Hx) as [p [q w]]. unfold f, g.
    rewrite <- exp_plus, !R by auto. rewrite <- (exp_ln (P x)) at 1 by auto. rewrite <- exp_plus.
    f_equal. field. }
  assert (F : moment l (2 * a) P W = sum l (fun x => f x * f x)).
  { apply sum_ext. intros x Hx. destruct (L x Hx) as [p [q w]]. unfold f.
    rewrite <- exp_plus, !R by auto. rewrite <- (exp_ln (P x)) at 1 by auto. rewrite <- exp_plus.
    f_equal. field. }
  assert (G : moment l (2 * a - 1) W Q = sum l (fun x => g x * g x)).
  { apply sum_ext. intros x Hx. destruct (L x Hx) as [p [q w]]. unfold g.
    rewrite <- exp_plus, !R by auto. rewrite <- (exp_ln (W x)) at 1 by auto. rewrite <- exp_plus.
    f_equal. field. }
  pose proof (mean_exp_pos l W Q HW (2 * a - 1 - 1)) as N. fold (moment l (2 * a - 1) W Q) in N.
  rewrite <- moment_mean in N. rewrite E, F, G in *. apply sum_product_squared. exact N.
Qed.
