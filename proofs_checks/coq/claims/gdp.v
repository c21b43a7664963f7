Require Import Reals Lra Lia List Bool Psatz.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From DPExact Require Import Finite Response Sampling Gaussian Analysis Losses Composing Testing.
From DPExact Require Import Tradeoff Terms Optimal Moments.
Import ListNotations.
Open Scope R_scope.

(** * gdp.s1.power | pairs of laws on finite sets, randomized tests *)
Theorem gdp_s1_power {A} (l : list A) P Q eps delta : law l P -> law l Q -> dp l eps delta P Q ->
  forall t, test l t -> expectation l Q t <= exp eps * expectation l P t + delta.
Proof.
  intros HP HQ [D E] t T. apply close_iff_HS in E. pose proof (test_below l Q P (exp eps) t T). lra.
Qed.

(** * gdp.tv | pairs of laws on finite sets, randomized tests *)
Theorem gdp_tv {A} (l : list A) P Q : law l P -> law l Q ->
  (forall md fa, region l P Q md fa ->
     1 - sum l (fun a => Rabs (P a - Q a)) / 2 <= md + fa) /\
  (exists md fa, region l P Q md fa /\
     1 - sum l (fun a => Rabs (P a - Q a)) / 2 = md + fa).
Proof.
  intros HP HQ. destruct (errors_and_total_variation l P Q HP HQ) as [H [md [fa [R0 E]]]].
  split; [intros x y K; pose proof (H x y K); lra|]. exists md, fa. split; auto. lra.
Qed.

(** * gdp.lem1 | kernels between finite sets *)
Theorem gdp_lem1 {A B} (l : list A) (m : list B) K P0 P1 f : kernel l m K -> law l P1 ->
  tradeoff_above l P0 P1 f -> tradeoff_above m (push l P0 K) (push l P1 K) f.
Proof. intros HK L H md fa R0. apply H. apply (region_kernel l m K P0 P1); auto. Qed.

(** * gdp.prop3 | pairs of laws on finite sets *)
Theorem gdp_prop3 {A} (l : list A) P0 P1 eps delta : law l P0 -> law l P1 ->
  dp l eps delta P0 P1 <-> tradeoff_above l P0 P1 (f_eps_delta eps delta).
Proof. apply dp_by_tradeoff. Qed.

(** * gdp.thm3 gdp.thm3.mono | chains of laws on a finite set; monotony in k as stated *)
(** 1 - f does not fall; along P_0, ..., P_k the power of a test grows by at most 1 - f a step. *)
Fixpoint iterate (f : R -> R) (k : nat) (x : R) : R :=
  match k with O => x | S j => f (iterate f j x) end.
Theorem gdp_thm3 {A} (l : list A) (P : nat -> A -> R) f k :
  (forall j, law l (P j)) -> (forall x y, 0 <= x -> x <= y -> y <= 1 -> f y <= f x) ->
  (forall j, tradeoff_above l (P j) (P (S j)) f) ->
  (forall x, 0 <= x <= 1 -> 0 <= f x <= 1) ->
  tradeoff_above l (P 0%nat) (P k) (fun a => 1 - iterate (fun x => 1 - f x) k a).
Proof.
  intros HL Hf HP Hb md fa [t [T [-> ->]]]. rewrite expectation_not by auto.
  enough (expectation l (P k) t <= iterate (fun x => 1 - f x) k (expectation l (P 0%nat) t) /\
          0 <= iterate (fun x => 1 - f x) k (expectation l (P 0%nat) t) <= 1) by lra.
  induction k as [|k [IH [B0 B1]]]; simpl.
  - split; [lra|]. apply expectation_bounds; auto.
  - set (x := iterate (fun x => 1 - f x) k (expectation l (P 0%nat) t)) in *.
    pose proof (Hb x (conj B0 B1)). split; [|lra].
    pose proof (HP k _ _ (ex_intro _ t (conj T (conj eq_refl eq_refl)))) as E.
    rewrite expectation_not in E by auto.
    pose proof (expectation_bounds l (P k) t (HL k) T) as [C0 C1].
    pose proof (Hf _ x C0 IH B1). lra.
Qed.

Theorem gdp_thm3_mono f k x : (forall x, 0 <= x <= 1 -> 0 <= f x <= 1 - x) -> 0 <= x <= 1 ->
  1 - iterate (fun x => 1 - f x) (S k) x <= 1 - iterate (fun x => 1 - f x) k x.
Proof.
  intros H Hx. assert (B : forall j, 0 <= iterate (fun x => 1 - f x) j x <= 1).
  { induction j; simpl; auto. pose proof (H _ IHj). lra. }
  simpl. pose proof (H _ (B k)). lra.
Qed.

(** * gdp.prop1.max gdp.prop1.min_no gdp.eq4 | as stated *)
(** Convex, continuous, non-increasing, at most 1 - x. *)
Definition convex (f : R -> R) : Prop := forall x y t, 0 <= x <= 1 -> 0 <= y <= 1 -> 0 <= t <= 1 ->
  f (t * x + (1 - t) * y) <= t * f x + (1 - t) * f y.
Definition tradeoff_function (f : R -> R) : Prop :=
  convex f /\ (forall x, 0 <= x <= 1 -> continuity_pt f x) /\
  (forall x y, 0 <= x -> x <= y -> y <= 1 -> f y <= f x) /\
  (forall x, 0 <= x <= 1 -> 0 <= f x <= 1 - x).
Lemma Rmax_continuous f g x : continuity_pt f x -> continuity_pt g x ->
  continuity_pt (fun y => Rmax (f y) (g y)) x.
Proof.
  intros Hf Hg. apply continuity_pt_ext with
    (fun y => (f y + g y + Rabs (f y - g y)) / 2).
  - intros y. unfold Rmax, Rabs. destruct (Rle_dec (f y) (g y)), (Rcase_abs (f y - g y)); lra.
  - apply continuity_pt_mult; [|apply continuity_pt_const; intros ? ?; auto].
    apply continuity_pt_plus; [apply continuity_pt_plus; auto|].
    apply (continuity_pt_comp (fun y => f y - g y) Rabs);
      [apply continuity_pt_minus; auto|apply Rcontinuity_abs].
Qed.
Theorem gdp_prop1_max f g : tradeoff_function f -> tradeoff_function g ->
  tradeoff_function (fun x => Rmax (f x) (g x)).
Proof.
  intros [Cf [Kf [Mf Bf]]] [Cg [Kg [Mg Bg]]]. split; [|split; [|split]].
  - intros x y t Hx Hy Ht. pose proof (Cf x y t Hx Hy Ht). pose proof (Cg x y t Hx Hy Ht).
    pose proof (Rmax_l (f x) (g x)). pose proof (Rmax_r (f x) (g x)).
    pose proof (Rmax_l (f y) (g y)). pose proof (Rmax_r (f y) (g y)).
    apply Rmax_lub.
    + assert (t * f x <= t * Rmax (f x) (g x)) by (apply Rmult_le_compat_l; lra).
      assert ((1 - t) * f y <= (1 - t) * Rmax (f y) (g y)) by (apply Rmult_le_compat_l; lra). lra.
    + assert (t * g x <= t * Rmax (f x) (g x)) by (apply Rmult_le_compat_l; lra).
      assert ((1 - t) * g y <= (1 - t) * Rmax (f y) (g y)) by (apply Rmult_le_compat_l; lra). lra.
  - intros x Hx. apply Rmax_continuous; auto.
  - intros x y H0 H H1. pose proof (Mf x y H0 H H1). pose proof (Mg x y H0 H H1).
    pose proof (Rmax_l (f x) (g x)). pose proof (Rmax_r (f x) (g x)). apply Rmax_lub; lra.
  - intros x Hx. pose proof (Bf x Hx). pose proof (Bg x Hx). pose proof (Rmax_l (f x) (g x)).
    split; [lra|]. apply Rmax_lub; lra.
Qed.

(** Two trade-off functions whose minimum is not convex. *)
Theorem gdp_prop1_min_no :
  let f x := Rmax 0 (1 - 4 * x) in let g x := (1 - x) / 4 in
  ~ convex (fun x => Rmin (f x) (g x)).
Proof.
  intros f g C. specialize (C 0 (2 / 5) (1 / 2)).
  assert (Q : Rmin (f (1 / 2 * 0 + (1 - 1 / 2) * (2 / 5))) (g (1 / 2 * 0 + (1 - 1 / 2) * (2 / 5)))
    = 1 / 5).
  { unfold f, g. rewrite Rmax_right by lra. rewrite Rmin_right; lra. }
  assert (F0 : Rmin (f 0) (g 0) = 1 / 4). { unfold f, g. rewrite Rmax_right by lra. rewrite Rmin_right; lra. }
  assert (F1 : Rmin (f (2 / 5)) (g (2 / 5)) = 0). { unfold f, g. rewrite Rmax_left by lra. rewrite Rmin_left; lra. }
  cbv beta in C. rewrite Q, F0, F1 in C. lra.
Qed.

(** Symmetric: f(x) <= y iff f(y) <= x. *)
Theorem gdp_eq4 eps delta : 0 <= eps -> 0 <= delta <= 1 ->
  tradeoff_function (f_eps_delta eps delta) /\
  forall x y, 0 <= x <= 1 -> 0 <= y <= 1 ->
    (f_eps_delta eps delta x <= y <-> f_eps_delta eps delta y <= x).
Proof.
  intros He Hd. pose proof (exp_at_least_1 eps He). pose proof (exp_pos (- eps)).
  assert (I : exp (- eps) * exp eps = 1).
  { rewrite <- exp_plus. replace (- eps + eps) with 0 by ring. apply exp_0. }
  assert (I1 : exp (- eps) <= 1) by (apply exp_at_most_1; lra).
  set (e := exp eps) in *. set (i := exp (- eps)) in *.
  assert (L : forall x, f_eps_delta eps delta x = Rmax 0 (Rmax (1 - delta - e * x) (i * (1 - delta - x))))
    by reflexivity.
  assert (A : forall x z, f_eps_delta eps delta x <= z <->
    0 <= z /\ 1 - delta - e * x <= z /\ i * (1 - delta - x) <= z).
  { intros x z. rewrite L. split.
    - intros H1. pose proof (Rmax_l 0 (Rmax (1 - delta - e * x) (i * (1 - delta - x)))).
      pose proof (Rmax_r 0 (Rmax (1 - delta - e * x) (i * (1 - delta - x)))).
      pose proof (Rmax_l (1 - delta - e * x) (i * (1 - delta - x))).
      pose proof (Rmax_r (1 - delta - e * x) (i * (1 - delta - x))). lra.
    - intros [H1 [H2 H3]]. apply Rmax_lub; auto. apply Rmax_lub; auto. }
  assert (B : forall x, 0 <= f_eps_delta eps delta x /\ 1 - delta - e * x <= f_eps_delta eps delta x
    /\ i * (1 - delta - x) <= f_eps_delta eps delta x).
  { intros x. apply A. lra. }
  split; [split; [|split; [|split]]|].
  - intros x y t Hx Hy Ht. apply A. destruct (B x) as [X0 [X1 X2]], (B y) as [Y0 [Y1 Y2]].
    assert (0 <= t * f_eps_delta eps delta x) by (apply Rmult_le_pos; lra).
    assert (0 <= (1 - t) * f_eps_delta eps delta y) by (apply Rmult_le_pos; lra).
    assert (t * (1 - delta - e * x) <= t * f_eps_delta eps delta x) by (apply Rmult_le_compat_l; lra).
    assert ((1 - t) * (1 - delta - e * y) <= (1 - t) * f_eps_delta eps delta y)
      by (apply Rmult_le_compat_l; lra).
    assert (t * (i * (1 - delta - x)) <= t * f_eps_delta eps delta x) by (apply Rmult_le_compat_l; lra).
    assert ((1 - t) * (i * (1 - delta - y)) <= (1 - t) * f_eps_delta eps delta y)
      by (apply Rmult_le_compat_l; lra). lra.
  - intros x _. unfold f_eps_delta. fold e i.
    apply (Rmax_continuous (fun _ => 0)); [apply continuity_pt_const; intros ? ?; auto|].
    apply Rmax_continuous; apply derivable_continuous_pt; reg.
  - intros x y U0 U1 U2. apply A. destruct (B x) as [X0 [X1 X2]].
    assert (e * x <= e * y) by (apply Rmult_le_compat_l; lra).
    assert (i * (1 - delta - y) <= i * (1 - delta - x)) by (apply Rmult_le_compat_l; lra). lra.
  - intros x Hx. split; [apply B|]. apply A.
    assert (1 * x <= e * x) by (apply Rmult_le_compat_r; lra).
    destruct (Rle_dec 0 (1 - delta - x)).
    + assert (i * (1 - delta - x) <= 1 * (1 - delta - x)) by (apply Rmult_le_compat_r; lra). lra.
    + assert (i * (1 - delta - x) <= 0) by nra. lra.
  - assert (Z : forall x y, 0 <= x -> 0 <= y -> 
      f_eps_delta eps delta x <= y -> f_eps_delta eps delta y <= x).
    { intros x y Hx Hy H1. apply A in H1 as [_ [H2 H3]]. apply A. split; [lra|]. split.
      - apply (Rmult_le_compat_l e) in H3; [|lra].
        replace (e * (i * (1 - delta - x))) with (i * e * (1 - delta - x)) in H3 by ring.
        rewrite I in H3. lra.
      - assert (i * (1 - delta - y) <= i * (e * x)) by (apply Rmult_le_compat_l; lra).
        rewrite <- Rmult_assoc, I in H1. lra. }
    intros x y Hx Hy. split; apply Z; lra.
Qed.

(** * gdp.fig3L | as stated: both lines meet at the kink on the diagonal *)
Theorem gdp_fig3L eps delta : 0 < eps ->
  let x := (1 - delta) / (1 + exp eps) in
  1 - delta - exp eps * x = x /\ exp (- eps) * (1 - delta - x) = x /\
  1 - delta - exp eps * 0 = 1 - delta /\ exp (- eps) * (1 - delta - (1 - delta)) = 0.
Proof.
  intros He x. pose proof (exp_pos eps). rewrite exp_Ropp. unfold x.
  repeat split; try ring; field; lra.
Qed.

(** * gdp.eq15 | as stated, the conjugates as least upper bounds over [0, 1] *)
Definition conjugate_at (f : R -> R) (y s : R) : Prop :=
  is_lub (fun v => exists x, 0 <= x <= 1 /\ v = y * x - f x) s.
Theorem gdp_eq15 f p eps s : 0 < p <= 1 -> conjugate_at f (- exp eps) s ->
  exists r, conjugate_at (fun x => p * f x + (1 - p) * (1 - x)) (- (1 - p + p * exp eps)) r /\
    p * (1 + s) = 1 + r.
Proof.
  intros Hp [U L]. exists (p * (1 + s) - 1). split; [|lra]. split.
  - intros v [x [Hx ->]]. assert (K : - exp eps * x - f x <= s) by (apply U; exists x; auto).
    apply (Rmult_le_compat_l p) in K; lra.
  - intros b H. assert (K : s <= (b + 1) / p - 1).
    { apply L. intros v [x [Hx ->]].
      assert (M : - (1 - p + p * exp eps) * x - (p * f x + (1 - p) * (1 - x)) <= b)
        by (apply H; exists x; auto).
      apply Rmult_le_reg_r with p; [lra|].
      replace (((b + 1) / p - 1) * p) with (b + 1 - p) by (field; lra). lra. }
    apply (Rmult_le_compat_r p) in K; [|lra].
    replace (((b + 1) / p - 1) * p) with (b + 1 - p) in K by (field; lra). lra.
Qed.

(** * gdp.thm7.small | as stated: the quotient tends to 1 *)
Theorem gdp_thm7_small : derivable_pt_lim (fun d => 1 - exp (- d)) 0 1.
Proof.
  apply is_derive_Reals. auto_derive; auto. rewrite Ropp_0, exp_0. ring.
Qed.

(** * gdp.sqrt50 | as stated, to two decimals *)
Theorem gdp_sqrt50 : 0.135 <= 1 / sqrt 50 <= 0.145.
Proof. interval. Qed.

(** * gdp.epoch | as stated, for every m, T and n *)
Theorem gdp_epoch m T n : 0 <= T -> n <> 0 -> let E := T * m / n in
  E * m / n = (m * sqrt T / n) * (m * sqrt T / n).
Proof.
  intros HT Hn E. unfold E. replace (m * sqrt T / n * (m * sqrt T / n))
    with (m * m * (sqrt T * sqrt T) / (n * n)) by (field; auto). rewrite sqrt_sqrt by auto. field. auto.
Qed.

(** * gdp.alexnet | as stated *)
Theorem gdp_alexnet : 90 * 128 / 1200000 < 0.01.
Proof. lra. Qed.

(** * gdp.idmax | pairs of laws on finite sets: a test that ignores the outcome *)
Theorem gdp_idmax {A} (l : list A) P Q a : law l P -> law l Q -> 0 <= a <= 1 ->
  region l P Q (1 - a) a.
Proof.
  intros HP HQ Ha. exists (fun _ => a). split; [intros b _; lra|].
  unfold expectation. rewrite !sum_scale_r. destruct HP as [_ ->], HQ as [_ ->]. lra.
Qed.

