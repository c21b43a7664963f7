Require Import Reals Lra Lia List Bool Psatz.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From DPExact Require Import Finite Response Sampling Gaussian Analysis Losses Composing Testing.
From DPExact Require Import Tradeoff Terms Optimal Moments.
Import ListNotations.
Open Scope R_scope.

(** * kov.thm2.1 kov.sec6B | pairs of laws on finite sets *)
(** False alarm P0(S), missed detection P1(not S). *)
Theorem kov_thm2_1 {A} (l : list A) P0 P1 eps delta : law l P0 -> law l P1 ->
  dp l eps delta P0 P1 <->
  forall S, false_alarm l P0 S + exp eps * missed l P1 S >= 1 - delta /\
            exp eps * false_alarm l P0 S + missed l P1 S >= 1 - delta.
Proof. apply dp_by_events. Qed.
Definition kov_sec6B := @kov_thm2_1.

(** * kov.cor2.3 | pairs of laws on finite sets, randomized tests *)
Theorem kov_cor2_3 {A} (l : list A) P0 P1 eps delta : law l P0 -> law l P1 ->
  dp l eps delta P0 P1 <->
  forall md fa, region l P0 P1 md fa ->
    fa + exp eps * md >= 1 - delta /\ exp eps * fa + md >= 1 - delta.
Proof. apply dp_by_region. Qed.

(** * kov.thm2.4 | kernels between finite sets *)
(** Every pair of errors after the kernel is one before it. *)
Theorem kov_thm2_4 {A B} (l : list A) (m : list B) K P0 P1 : kernel l m K -> law l P1 ->
  forall md fa, region m (push l P0 K) (push l P1 K) md fa -> region l P0 P1 md fa.
Proof. apply region_kernel. Qed.

(** * kov.thm3.1 kov.intro.basic | adaptive mechanisms with finitely many outcomes *)
Theorem kov_thm3_1 {B} (m : list B) k eps delta X Y :
  adaptive (repeat (Step eps delta) k) m X Y ->
  dp (words m k) (INR k * eps) (INR k * delta) (run X) (run Y).
Proof.
  intros H. apply basic_composition in H. rewrite repeat_length in H.
  assert (E : forall f, sum (repeat (Step eps delta) k) f = INR k * f (Step eps delta)).
  { intros f. clear. induction k; [simpl; ring|]. rewrite S_INR. simpl. rewrite IHk. ring. }
  unfold total_epsilon, total_delta in H. rewrite !E in H. exact H.
Qed.
Definition kov_intro_basic := @kov_thm3_1.

(** * kov.thm3.1.hetero | adaptive mechanisms with finitely many outcomes *)
Theorem kov_thm3_1_hetero {B} (m : list B) s X Y : adaptive s m X Y ->
  dp (words m (length s)) (sum s epsilon) (sum s delta) (run X) (run Y).
Proof. apply basic_composition. Qed.

(** * kov.thm3.2 | adaptive mechanisms with finitely many outcomes *)
Theorem kov_thm3_2 {B} (m : list B) k eps delta slack X Y : (0 < k)%nat -> 0 < eps ->
  0 <= delta <= 1 -> 0 < slack <= 1 -> adaptive (repeat (Step eps delta) k) m X Y ->
  dp (words m k) (INR k * eps * (exp eps - 1) + eps * sqrt (2 * INR k * ln (/ slack)))
     (INR k * delta + slack) (run X) (run Y).
Proof.
  intros Hk He Hd Hs H. pose proof (advanced_equal m k eps delta slack X Y Hk He Hd Hs H) as D.
  destruct (equal_laws m k eps delta X Y H) as [L0 L1].
  refine (dp_weaker _ _ _ _ _ _ _ L0 L1 _ _ D).
  - apply Rplus_le_compat_r. rewrite !Rmult_assoc. apply Rmult_le_compat_l; [apply pos_INR|].
    apply Rmult_le_compat_l; [lra|]. pose proof (tanh_half_below eps).
    pose proof (exp_ineq1_le eps). lra.
  - pose proof (bernoulli (- delta) k). assert (-1 <= - delta) by lra. specialize (H0 H1).
    replace (1 + - delta) with (1 - delta) in H0 by ring.
    assert (U : 0 <= 1 - delta <= 1) by lra. pose proof (power_bounds (1 - delta) k U). nra.
Qed.

(** * kov.thm3.4.branch3 | adaptive mechanisms with finitely many outcomes *)
(** tanh_half e is (exp e - 1) / (exp e + 1). *)
Theorem kov_thm3_4_branch3 {B} (m : list B) k eps delta slack X Y : (0 < k)%nat -> 0 < eps ->
  0 <= delta <= 1 -> 0 < slack <= 1 -> adaptive (repeat (Step eps delta) k) m X Y ->
  dp (words m k)
     (INR k * eps * tanh_half eps + eps * sqrt (2 * INR k * ln (/ slack)))
     (1 - (1 - delta) ^ k * (1 - slack)) (run X) (run Y).
Proof. apply advanced_equal. Qed.

(** * kov.thm3.4.branch1 | adaptive mechanisms with finitely many outcomes *)
Theorem kov_thm3_4_branch1 {B} (m : list B) k eps delta slack X Y : 0 <= eps ->
  0 <= delta <= 1 -> 0 <= slack <= 1 -> adaptive (repeat (Step eps delta) k) m X Y ->
  dp (words m k) (INR k * eps) (1 - (1 - delta) ^ k * (1 - slack)) (run X) (run Y).
Proof.
  intros He Hd Hs H. destruct (equal_laws m k eps delta X Y H) as [L0 L1].
  pose proof (repeat_valid k eps delta He Hd) as V.
  assert (D : dp (words m k) (INR k * eps) (1 - (1 - delta) ^ k) (run X) (run Y)).
  { pose proof (composition_dp _ m X Y (INR k * eps) (1 - (1 - delta) ^ k) V H) as D.
    rewrite repeat_length in D. apply D. rewrite scaled_HS.
    rewrite <- (repeat_kept k eps delta), (all_losses _ V); [lra|lra|].
    unfold total_epsilon. rewrite repeat_sum. simpl. lra. }
  refine (dp_weaker _ _ _ _ _ _ _ L0 L1 _ _ D); [lra|].
  assert (0 <= (1 - delta) ^ k) by (apply pow_le; lra). nra.
Qed.

(** * kov.sec4.hockey kov.sec6D.setB | pairs of laws on finite sets *)
Theorem kov_sec4_hockey {A} (l : list A) P0 P1 e :
  (forall S, probability l P0 S - exp e * probability l P1 S <= HS l (exp e) P0 P1) /\
  probability l P0 (likely (exp e) P0 P1) - exp e * probability l P1 (likely (exp e) P0 P1)
    = HS l (exp e) P0 P1.
Proof. split; [intros; apply HS_above|apply HS_attained]. Qed.

(** The same on words of k outcomes. *)
Theorem kov_sec6D_setB {A} (l : list A) P0 P1 e k :
  let B := likely (exp e) (power P0) (power P1) in
  forall S, probability (words l k) (power P0) S - exp e * probability (words l k) (power P1) S <=
    probability (words l k) (power P0) B - exp e * probability (words l k) (power P1) B.
Proof. intros B S. unfold B. rewrite HS_attained. apply HS_above. Qed.

(** * kov.sec4.E_single | as stated *)
Theorem kov_sec4_E_single eps delta : 0 <= eps -> 0 <= delta <= 1 ->
  HS letters (exp eps) (response0 (exp eps) delta) (response1 (exp eps) delta) = delta.
Proof.
  intros He Hd. pose proof (exp_at_least_1 eps He).
  rewrite response_HS by lra. rewrite !positive_part_of_nonpos by nra. ring.
Qed.

(** * kov.eq9_10 | as stated *)
(** They are laws, and close in both orders. *)
Theorem kov_eq9_10 eps delta : 0 <= eps -> 0 <= delta <= 1 ->
  law letters (response0 (exp eps) delta) /\ law letters (response1 (exp eps) delta) /\
  dp letters eps delta (response0 (exp eps) delta) (response1 (exp eps) delta).
Proof.
  intros He Hd. pose proof (exp_pos eps). split; [|split].
  - apply response0_law; auto.
  - apply response1_law; auto.
  - apply response_is_dp; auto.
Qed.

(** * kov.remA.1a | pairs of laws on finite sets *)
Theorem kov_remA_1a {A} (l : list A) P Q eps delta e d : law l P -> law l Q ->
  0 <= eps -> 0 <= e -> 0 <= delta <= 1 -> delta <= d ->
  (1 - delta) / (1 + exp eps) >= (1 - d) / (1 + exp e) ->
  dp l eps delta P Q -> dp l e d P Q.
Proof.
  intros HP HQ He Hf Hd Hdd H D. destruct (Rle_dec eps e) as [K|K].
  { apply (dp_weaker l eps e delta d); auto. }
  pose proof (exp_at_least_1 eps He). pose proof (exp_at_least_1 e Hf).
  assert (exp e <= exp eps) by (apply exp_le; lra).
  assert (V : HS letters (exp e) (response0 (exp eps) delta) (response1 (exp eps) delta) <= d).
  { rewrite response_HS by lra. rewrite positive_part_of_nonneg by lra.
    rewrite (positive_part_of_nonpos (1 - exp e * exp eps)) by nra.
    replace (delta + (1 - delta) / (1 + exp eps) * (exp eps - exp e + 0))
      with (1 - (1 - delta) / (1 + exp eps) * (1 + exp e)) by (field; lra).
    assert ((1 - d) / (1 + exp e) * (1 + exp e) = 1 - d) by (field; lra). nra. }
  split; apply close_iff_HS; (eapply Rle_trans; [|exact V]).
  - apply response_dominates_dp; auto. left; apply exp_pos.
  - apply response_dominates_dp; auto; [apply dp_sym; auto|left; apply exp_pos].
Qed.

(** * kov.remA.1b | pairs of laws on finite sets *)
Theorem kov_remA_1b {A} (l : list A) P Q eps delta : law l P -> law l Q ->
  0 <= eps -> 0 <= delta <= 1 -> dp l eps delta P Q ->
  sum l (fun a => Rabs (P a - Q a)) / 2 <= 1 - 2 * (1 - delta) / (1 + exp eps).
Proof.
  intros HP HQ He Hd D. rewrite <- HS_total_variation by auto.
  pose proof (exp_at_least_1 eps He).
  eapply Rle_trans; [apply (response_dominates_dp l P Q eps delta HP HQ He Hd D); lra|].
  rewrite response_HS by lra. rewrite positive_part_of_nonneg by lra.
  rewrite positive_part_of_nonpos by lra. apply Req_le. field. lra.
Qed.

(** * kov.app.tv_identity | as stated *)
Theorem kov_app_tv_identity eps delta :
  1 - 2 * (1 - delta) / (1 + exp eps) = delta + (1 - delta) * (exp eps - 1) / (exp eps + 1).
Proof. pose proof (exp_pos eps). field. lra. Qed.

(** * kov.eq20 | pairs of laws on finite sets, randomized tests *)
(** The total variation is the largest 1 - MD - FA. *)
Theorem kov_eq20 {A} (l : list A) P Q : law l P -> law l Q ->
  (forall md fa, region l P Q md fa ->
     1 - md - fa <= sum l (fun a => Rabs (P a - Q a)) / 2) /\
  (exists md fa, region l P Q md fa /\
     1 - md - fa = sum l (fun a => Rabs (P a - Q a)) / 2).
Proof. apply errors_and_total_variation. Qed.

(** * kov.sec6D.hoeffding | as stated *)
Theorem kov_sec6D_hoeffding p x : 0 <= p <= 1 ->
  p * exp x + (1 - p) * exp (- x) <= exp ((2 * p - 1) * x + x * x / 2).
Proof. apply hoeffding. Qed.

(** * kov.eq17.pointwise_inequality | as stated; lam ln lam is 0 at 0 in Coq, too *)
Theorem kov_eq17_pointwise_inequality x e lam : 0 <= lam ->
  (if Rle_dec e x then 1 - exp (e - x) else 0) <=
    exp (lam * (x - e) + lam * ln lam - (lam + 1) * ln (lam + 1)).
Proof.
  intros Hl. destruct (Rle_dec e x) as [H|H]; [|left; apply exp_pos].
  destruct Hl as [Hl|<-].
  - destruct H as [H| <-].
    + replace (e - x) with (- (x - e)) by ring. apply conversion_pointwise; lra.
    + rewrite Rminus_eq_0, exp_0. left. rewrite Rminus_eq_0. apply exp_pos.
  - rewrite !Rmult_0_l, Rplus_0_l, Rplus_0_l, ln_1, Rmult_0_r, Rminus_0_r, exp_0.
    pose proof (exp_pos (e - x)). lra.
Qed.

(** * kov.sec3B.delta_strict | the corrected statement, with <= *)
(** As printed, with <, it fails where delta = 0. *)
Theorem kov_sec3B_delta_strict k delta slack : 0 <= delta <= 1 -> 0 <= slack <= 1 ->
  1 - (1 - delta) ^ k * (1 - slack) <= INR k * delta + slack.
Proof.
  intros Hd Hs. pose proof (bernoulli (- delta) k). assert (-1 <= - delta) by lra.
  specialize (H H0). replace (1 + - delta) with (1 - delta) in H by ring.
  assert (U : 0 <= 1 - delta <= 1) by lra. pose proof (power_bounds (1 - delta) k U). nra.
Qed.
Theorem printed_fails k slack : ~ 1 - (1 - 0) ^ k * (1 - slack) < INR k * 0 + slack.
Proof. rewrite Rminus_0_r, pow1. lra. Qed.

(** * kov.jl.cut_identity | as stated, S and its complement T as lists of vertices *)
(** The cut of the mixed weights (1 - w/n) u_ij + w/n, less w s (n - s)/n, over 1 - w/n. *)
Theorem kov_jl_cut_identity {V} (S T : list V) (u : V -> V -> R) w :
  let n := INR (length S + length T) in let s := INR (length S) in
  let cut v := sum S (fun i => sum T (fun j => v i j)) in
  n <> 0 -> w <> n ->
  (cut (fun i j => (1 - w / n) * u i j + w / n) - w * s * (n - s) / n) / (1 - w / n) = cut u.
Proof.
  intros n s cut Hn Hw. unfold cut.
  rewrite (sum_ext S _ (fun i => (1 - w / n) * sum T (u i) + INR (length T) * (w / n))).
  2:{ intros i _. rewrite sum_plus, sum_scale, sum_constant. auto. }
  rewrite sum_plus, sum_scale, sum_constant.
  assert (E : n - s = INR (length T)) by (unfold n, s; rewrite plus_INR; ring).
  rewrite E. fold s. change (sum S (fun i => sum T (fun j => u i j))) with (sum S (fun i => sum T (u i))).
  field. split; auto. lra.
Qed.

(** * kov.eq2 | as stated *)
(** The two lines of the region meet at the corner; each meets an axis at 1 - delta. *)
Theorem kov_eq2 eps delta md fa : 0 < eps ->
  fa + exp eps * md = 1 - delta /\ exp eps * fa + md = 1 - delta <->
  md = (1 - delta) / (1 + exp eps) /\ fa = (1 - delta) / (1 + exp eps).
Proof.
  intros He. pose proof (exp_ineq1 eps). assert (N : eps <> 0) by lra. specialize (H N).
  split.
  - intros [A B]. assert (D : (exp eps - 1) * (md - fa) = 0) by lra.
    apply Rmult_integral in D as [D|D]; [lra|]. assert (md = fa) by lra. subst md.
    assert (fa = (1 - delta) / (1 + exp eps)).
    { apply Rmult_eq_reg_r with (1 + exp eps); [|lra]. field_simplify; lra. }
    auto.
  - intros [-> ->]. split; field; lra.
Qed.
Theorem intercepts eps delta : (1 - delta) + exp eps * 0 = 1 - delta.
Proof. ring. Qed.

(** * kov.eq17.tangency | as stated: value and slope at the point of contact, a positive second derivative *)
Definition gap (lam e x : R) : R :=
  exp (lam * (x - e) + lam * ln lam - (lam + 1) * ln (lam + 1)) - (1 - exp (e - x)).
Theorem kov_eq17_tangency lam e : 0 < lam ->
  (forall x, is_derive (gap lam e) x
     (lam * exp (lam * (x - e) + lam * ln lam - (lam + 1) * ln (lam + 1)) - exp (e - x))) /\
  gap lam e (e + ln ((lam + 1) / lam)) = 0 /\
  lam * exp (lam * (e + ln ((lam + 1) / lam) - e) + lam * ln lam - (lam + 1) * ln (lam + 1))
    - exp (e - (e + ln ((lam + 1) / lam))) = 0 /\
  (forall x, is_derive (fun x => lam * exp (lam * (x - e) + lam * ln lam - (lam + 1) * ln (lam + 1))
      - exp (e - x)) x
     (lam * lam * exp (lam * (x - e) + lam * ln lam - (lam + 1) * ln (lam + 1)) + exp (e - x)) /\
   0 < lam * lam * exp (lam * (x - e) + lam * ln lam - (lam + 1) * ln (lam + 1)) + exp (e - x)).
Proof.
  intros H. assert (Q : 0 < (lam + 1) / lam) by (apply Rdiv_lt_0_compat; lra).
  assert (L : ln ((lam + 1) / lam) = ln (lam + 1) - ln lam).
  { unfold Rdiv. rewrite ln_mult, ln_Rinv by (try lra; apply Rinv_0_lt_compat; lra). ring. }
  assert (E : exp (lam * (e + ln ((lam + 1) / lam) - e) + lam * ln lam - (lam + 1) * ln (lam + 1))
              = / (lam + 1)).
  { rewrite L. replace (lam * (e + (ln (lam + 1) - ln lam) - e) + lam * ln lam
      - (lam + 1) * ln (lam + 1)) with (- ln (lam + 1)) by ring. rewrite exp_Ropp, exp_ln; lra. }
  assert (F : exp (e - (e + ln ((lam + 1) / lam))) = lam / (lam + 1)).
  { replace (e - (e + ln ((lam + 1) / lam))) with (- ln ((lam + 1) / lam)) by ring.
    rewrite exp_Ropp, exp_ln by auto. field. lra. }
  split; [|split; [|split]].
  - intros x. unfold gap. auto_derive; [auto|unfold Rminus; ring].
  - unfold gap. rewrite E, F. field. lra.
  - rewrite E, F. field. lra.
  - intros x. split; [auto_derive; [auto|unfold Rminus; ring]|].
    apply Rplus_lt_0_compat; [|apply exp_pos]. apply Rmult_lt_0_compat; [nra|apply exp_pos].
Qed.

(** * kov.sec6D.lambda | as stated: the minimum of the quadratic, at a lambda >= 0 *)
Theorem kov_sec6D_lambda k eps e : 0 < k -> 0 < eps -> k * eps * tanh_half eps <= e ->
  let lam := (e - k * eps * tanh_half eps) / (k * (eps * eps)) in
  let quadratic t := k * (eps * eps) / 2 * t * t - (e - k * eps * tanh_half eps) * t in
  0 <= lam /\ forall t, quadratic lam <= quadratic t.
Proof.
  intros Hk He H lam quadratic. assert (D : 0 < k * (eps * eps)).
  { apply Rmult_lt_0_compat; auto. apply Rmult_lt_0_compat; auto. }
  split.
  - apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat; auto.
  - intros t. assert (quadratic t - quadratic lam = k * (eps * eps) / 2 * ((t - lam) * (t - lam))).
    { unfold quadratic, lam. field. split; lra. }
    assert (0 <= (t - lam) * (t - lam)) by apply Rle_0_sqr. nra.
Qed.

(** * kov.app.gauss_lambda | as stated *)
Theorem kov_app_gauss_lambda sigma k Delta eps : 0 < sigma -> 0 < k -> 0 < Delta ->
  0 < sigma ^ 2 / (k * Delta ^ 2) * (eps - k * Delta ^ 2 / (2 * sigma ^ 2)) <->
  k * Delta ^ 2 / (2 * sigma ^ 2) < eps.
Proof.
  intros Hs Hk HD. assert (P : 0 < sigma ^ 2 / (k * Delta ^ 2)).
  { apply Rdiv_lt_0_compat; [apply pow_lt; auto|].
    apply Rmult_lt_0_compat; auto. apply pow_lt; auto. }
  split; intros H.
  - destruct (Rle_lt_dec eps (k * Delta ^ 2 / (2 * sigma ^ 2))); auto. nra.
  - apply Rmult_lt_0_compat; lra.
Qed.

(** * kov.sec6C.convex kov.sec6C.abel | finite partitions *)
(** With the probabilities p_1, p_2, ... of acceptance in order: summation by parts. *)
Fixpoint abel (last : R) (pairs : list (R * R)) (tail : R) : R :=
  match pairs with
  | [] => last * tail
  | (p, mass) :: t => (last - p) * tail + abel p t (tail + mass)
  end.
Theorem kov_sec6C_convex pairs : forall last tail,
  abel last pairs tail = last * tail + sum pairs (fun pm => fst pm * snd pm).
Proof. induction pairs as [|[p mass] t IH]; intros; simpl; [ring|]. rewrite IH. simpl. ring. Qed.
Definition kov_sec6C_abel := kov_sec6C_convex.

(** * kov.thm3.4.branch2 kov.thm3.5 kov.thm3.4 kov.thm3.5.sum_rule kov.sec5.composed_formula kov.sec6E.eps_tilde | adaptive mechanisms with finitely many outcomes, slack in (0, 1] *)
(** drift s = sum of eps tanh(eps / 2), squares s = sum of eps^2, kept s = product of 1 - delta. *)
Definition logarithm (s : list step) (slack : R) : R := ln (exp 1 + sqrt (squares s) / slack).
Lemma second_branch s slack : List.Forall valid s -> 0 < slack <= 1 -> 0 < squares s ->
  HS (outcomes s) (exp (drift s + sqrt (2 * logarithm s slack * squares s))) (law0 s) (law1 s)
    <= 1 - kept s * (1 - slack).
Proof.
  intros V Hs Hq. pose proof (kept_bounds s V). set (L := logarithm s slack).
  set (a := sqrt (squares s)). assert (A : 0 < a) by (apply sqrt_lt_R0; auto).
  assert (AA : a * a = squares s) by (apply sqrt_sqrt; lra).
  assert (As : 0 < a / slack) by (apply Rdiv_lt_0_compat; lra).
  assert (EL : exp L = exp 1 + a / slack).
  { unfold L, logarithm. fold a. apply exp_ln. pose proof (exp_pos 1). lra. }
  assert (L1 : 1 <= L). { apply exp_le_back. rewrite EL. lra. }
  set (r := sqrt (2 * L)). assert (RR : r * r = 2 * L) by (apply sqrt_sqrt; lra).
  assert (R1 : 1 <= r). { rewrite <- sqrt_1. apply sqrt_le_1_alt. lra. }
  set (t := r / a). assert (T : 0 < t) by (apply Rdiv_lt_0_compat; lra).
  assert (E : sqrt (2 * L * squares s) = t * squares s).
  { rewrite sqrt_mult_alt by lra. fold r a. unfold t. rewrite <- AA. field. lra. }
  rewrite E. eapply Rle_trans; [apply (HS_by_moments s t _ V T)|].
  assert (C : t * ln t - (t + 1) * ln (t + 1) <= - ln (t + 1)).
  { assert (ln t < ln (t + 1)) by (apply ln_increasing; lra). nra. }
  assert (B : moments s t * exp (- (t * (drift s + t * squares s)) + t * ln t - (t + 1) * ln (t + 1))
              <= slack).
  { apply Rle_trans with (exp (t * drift s + t * t * squares s / 2) *
      exp (- (t * (drift s + t * squares s)) + t * ln t - (t + 1) * ln (t + 1))).
    { apply Rmult_le_compat_r; [left; apply exp_pos|]. apply moments_below; auto; lra. }
    rewrite <- exp_plus. apply Rle_trans with (exp (- L + - ln (t + 1))).
    - apply exp_le. assert (t * t * squares s = 2 * L).
      { unfold t. rewrite <- AA, <- RR. field. lra. }
      nra.
    - rewrite exp_plus, !exp_Ropp, exp_ln, EL by lra.
      rewrite <- Rinv_mult. pose proof (exp_pos 1).
      assert (P : 0 < (exp 1 + a / slack) * (t + 1)) by (apply Rmult_lt_0_compat; lra).
      apply Rmult_le_reg_r with ((exp 1 + a / slack) * (t + 1)); auto. rewrite Rinv_l by lra.
      assert (Q : a / slack * (r / a) = r / slack) by (field; lra).
      assert (Q1 : slack * (a / slack * (r / a)) = r) by (rewrite Q; field; lra).
      assert (0 <= slack * exp 1 * (t + 1)) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
      assert (0 <= slack * (a / slack)) by (apply Rmult_le_pos; lra).
      replace (slack * ((exp 1 + a / slack) * (t + 1)))
        with (slack * exp 1 * (t + 1) + slack * (a / slack * t) + slack * (a / slack)) by ring.
      unfold t at 2. rewrite Q1. lra. }
  assert (kept s * (moments s t * exp (- (t * (drift s + t * squares s)) + t * ln t - (t + 1) * ln (t + 1)))
          <= kept s * slack) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.
Theorem kov_thm3_5 {B} (m : list B) s slack X Y : List.Forall valid s -> 0 < slack <= 1 ->
  0 < squares s -> adaptive s m X Y ->
  dp (words m (length s))
    (Rmin (sum s epsilon) (Rmin
      (drift s + sqrt (2 * logarithm s slack * squares s))
      (drift s + sqrt (2 * ln (/ slack) * squares s))))
    (1 - kept s * (1 - slack)) (run X) (run Y).
Proof.
  intros V Hs Hq H. unfold Rmin.
  destruct (Rle_dec (drift s + sqrt (2 * logarithm s slack * squares s))
    (drift s + sqrt (2 * ln (/ slack) * squares s)));
    match goal with |- dp _ (if ?d then _ else _) _ _ _ => destruct d end;
    try (apply composition_dp; auto; apply second_branch; auto);
    try (apply advanced_composition; auto);
    (destruct (adaptive_laws s m X Y H) as [L0 L1];
     apply (composition_dp s m X Y _ _ V H);
     rewrite scaled_HS, (all_losses s V); [|lra|unfold total_epsilon; lra];
     pose proof (kept_bounds s V); nra).
Qed.
(** Equal steps. *)
Theorem kov_thm3_4 {B} (m : list B) k eps delta slack X Y : (0 < k)%nat -> 0 < eps ->
  0 <= delta <= 1 -> 0 < slack <= 1 -> adaptive (repeat (Step eps delta) k) m X Y ->
  let a := INR k * (eps * eps) in
  dp (words m k)
    (Rmin (INR k * eps) (Rmin
      (INR k * (eps * tanh_half eps) + sqrt (2 * ln (exp 1 + sqrt a / slack) * a))
      (INR k * (eps * tanh_half eps) + sqrt (2 * ln (/ slack) * a))))
    (1 - (1 - delta) ^ k * (1 - slack)) (run X) (run Y).
Proof.
  intros Hk He Hd Hs H a. assert (K : 0 < INR k) by (apply lt_0_INR; auto).
  pose proof (repeat_valid k eps delta (Rlt_le _ _ He) Hd) as V.
  assert (Q : squares (repeat (Step eps delta) k) = a) by (unfold squares; rewrite repeat_sum; auto).
  assert (Q0 : 0 < squares (repeat (Step eps delta) k)).
  { rewrite Q. apply Rmult_lt_0_compat; auto. apply Rmult_lt_0_compat; auto. }
  pose proof (kov_thm3_5 m _ slack X Y V Hs Q0 H) as D.
  unfold logarithm in D. rewrite repeat_length, repeat_kept, Q in D.
  unfold drift in D. rewrite !repeat_sum in D. exact D.
Qed.
Theorem kov_thm3_4_branch2 {B} (m : list B) k eps delta slack X Y : (0 < k)%nat -> 0 < eps ->
  0 <= delta <= 1 -> 0 < slack <= 1 -> adaptive (repeat (Step eps delta) k) m X Y ->
  let a := INR k * (eps * eps) in
  dp (words m k) (INR k * (eps * tanh_half eps) + sqrt (2 * ln (exp 1 + sqrt a / slack) * a))
    (1 - (1 - delta) ^ k * (1 - slack)) (run X) (run Y).
Proof.
  intros Hk He Hd Hs H a. destruct (equal_laws m k eps delta X Y H) as [L0 L1].
  refine (dp_weaker _ _ _ _ _ _ _ L0 L1 _ _ (kov_thm3_4 m k eps delta slack X Y Hk He Hd Hs H));
    [|lra]. eapply Rle_trans; [apply Rmin_r|apply Rmin_l].
Qed.

(** * kov.intro.strict_improvement | as stated, by the third branch *)
Theorem kov_intro_strict_improvement k eps delta slack : (0 < k)%nat -> 0 < eps ->
  0 <= delta <= 1 -> 0 < slack <= 1 ->
  INR k * eps * tanh_half eps + eps * sqrt (2 * INR k * ln (/ slack)) <
  INR k * eps * (exp eps - 1) + eps * sqrt (2 * INR k * ln (/ slack)) /\
  1 - (1 - delta) ^ k * (1 - slack) <= INR k * delta + slack.
Proof.
  intros Hk He Hd Hs. assert (K : 0 < INR k) by (apply lt_0_INR; auto). split.
  - pose proof (tanh_half_below eps). pose proof (exp_ineq1_le eps).
    apply Rplus_lt_compat_r. apply Rmult_lt_compat_l; [apply Rmult_lt_0_compat; auto|lra].
  - pose proof (bernoulli (- delta) k). assert (-1 <= - delta) by lra. specialize (H H0).
    replace (1 + - delta) with (1 - delta) in H by ring.
    assert (U : 0 <= 1 - delta <= 1) by lra. pose proof (power_bounds (1 - delta) k U). nra.
Qed.

(** * kov.app.geom_ratio | as stated *)
Theorem kov_app_geom_ratio eps c q x : let p centre := c * exp (- (eps * Rabs (IZR x - IZR centre))) in
  ((x <= q)%Z -> p q = exp eps * p (q + 1)%Z) /\ ((q < x)%Z -> exp eps * p q = p (q + 1)%Z).
Proof.
  intros p. unfold p. rewrite plus_IZR. split; intros H.
  - apply IZR_le in H. rewrite !Rabs_left1 by lra.
    rewrite <- Rmult_assoc, (Rmult_comm (exp eps) c), Rmult_assoc, <- exp_plus. do 2 f_equal. ring.
  - assert (I : (q + 1 <= x)%Z) by lia. apply IZR_le in I. rewrite plus_IZR in I.
    rewrite !Rabs_pos_eq by lra.
    rewrite <- Rmult_assoc, (Rmult_comm (exp eps) c), Rmult_assoc, <- exp_plus. do 2 f_equal. ring.
Qed.
