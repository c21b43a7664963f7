Require Import Reals Lra Lia List Bool Psatz.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From DPExact Require Import Finite Response Sampling Gaussian Analysis Losses Composing Testing.
From DPExact Require Import Tradeoff Terms Optimal Moments.
Import ListNotations.
Open Scope R_scope.

(** * steinke.thm1 | adaptive mechanisms with finitely many outcomes *)
Theorem steinke_thm1 {B} (m : list B) eps X Y :
  adaptive (map (fun e => Step e 0) eps) m X Y ->
  dp (words m (length eps)) (sum eps (fun e => e)) 0 (run X) (run Y).
Proof.
  intros H. apply basic_composition in H. rewrite map_length in H.
  unfold total_epsilon, total_delta in H. rewrite !sum_map in H. simpl in H.
  rewrite sum_zero in H. exact H.
Qed.

(** * steinke.sec3.tv_formulas | finite sets, all outcomes possible under both laws *)
Theorem steinke_sec3_tv_formulas {A} (l : list A) P Q : positive_law l P -> positive_law l Q ->
  sum l (fun a => Rabs (P a - Q a)) / 2 = mean l P Q (fun z => Rmax 0 (1 - exp (- z))) /\
  sum l (fun a => Rabs (P a - Q a)) / 2 = 1 / 2 * mean l P Q (fun z => Rabs (1 - exp (- z))).
Proof.
  intros HP HQ. split.
  - rewrite <- HS_total_variation by (apply positive_law_law; auto).
    replace 1 with (exp 0) at 1 by apply exp_0. rewrite HS_mean by auto. apply mean_ext.
    intros z. unfold positive_part. do 3 f_equal. ring.
  - assert (E : mean l P Q (fun z => Rabs (1 - exp (- z))) = sum l (fun a => Rabs (P a - Q a))).
    { apply sum_ext. intros a Ha. assert (0 < P a) by (apply HP; auto).
      rewrite <- (Rabs_pos_eq (P a)) at 1 by lra. rewrite <- Rabs_mult. f_equal.
      pose proof (exp_minus_loss l P Q HP HQ a Ha). nra. }
    rewrite E. lra.
Qed.

(** * steinke.sec3.puredp | finite sets, all outcomes possible under both laws *)
Theorem steinke_sec3_puredp {A} (l : list A) P Q eps : positive_law l P -> positive_law l Q ->
  (close l eps 0 P Q <-> forall a, In a l -> loss P Q a <= eps) /\
  (dp l eps 0 P Q -> forall a, In a l -> - eps <= loss P Q a).
Proof.
  intros HP HQ. split; [apply pure_iff; auto|].
  intros D a Ha. apply (pure_bounds l P Q eps HP HQ D a Ha).
Qed.

(** * steinke.sec3.kl | finite sets, all outcomes possible under both laws *)
Theorem steinke_sec3_kl {A} (l : list A) P Q : positive_law l P -> positive_law l Q ->
  sum l (fun a => P a * ln (P a / Q a)) = mean l P Q (fun z => z) /\
  0 <= mean l P Q (fun z => z).
Proof. intros HP HQ. split; [reflexivity|apply kl_nonneg; auto]. Qed.

(** * steinke.sec3.adp_bullet | finite sets, all outcomes possible under both laws *)
Theorem steinke_sec3_adp_bullet {A} (l : list A) P Q eps delta :
  positive_law l P -> positive_law l Q ->
  (close l eps delta P Q <-> mean l P Q (fun z => Rmax 0 (1 - exp (eps - z))) <= delta) /\
  (mean l P Q (fun z => if Rle_dec z eps then 0 else 1) <= delta -> close l eps delta P Q).
Proof.
  intros HP HQ. rewrite close_iff_HS, HS_mean by auto. split; [reflexivity|].
  intros H. eapply Rle_trans; [|exact H]. apply mean_le; auto. intros a _.
  pose proof (exp_pos (eps - loss P Q a)). unfold positive_part. destruct (Rle_dec (loss P Q a) eps).
  - pose proof (exp_at_least_1 (eps - loss P Q a)). rewrite Rmax_left; lra.
  - apply Rmax_lub; lra.
Qed.

(** * steinke.fn1 steinke.lem6 | finite sets, all outcomes possible under both laws *)
(** Change of measure: E_P[g(Z) e^-Z] = E_Q[g(f)]; with an event and the loss under Q, footnote 1. *)
Theorem steinke_lem6 {A} (l : list A) P Q g : positive_law l P -> positive_law l Q ->
  sum l (fun a => Q a * g (loss P Q a)) = mean l P Q (fun z => g z * exp (- z)).
Proof.
  intros HP HQ. apply sum_ext. intros a Ha. rewrite <- (exp_minus_loss l P Q HP HQ a Ha). ring.
Qed.
Theorem steinke_fn1 {A} (l : list A) P Q S : positive_law l P -> positive_law l Q ->
  probability l P S = sum l (fun a => Q a * (exp (loss P Q a) * (if S a then 1 else 0))).
Proof.
  intros HP HQ. apply sum_ext. intros a Ha. rewrite exp_loss with (l := l) by auto.
  assert (0 < Q a) by (apply HQ; auto). destruct (S a); field; lra.
Qed.

(** * steinke.rem5 | finite sets, all outcomes possible under both laws *)
Theorem steinke_rem5 {A} (l : list A) P Q a : positive_law l P -> positive_law l Q -> In a l ->
  - loss Q P a = loss P Q a.
Proof. intros HP HQ Ha. rewrite (loss_swap l P Q HP HQ a Ha). ring. Qed.

(** * steinke.sec32.accuracy | pairs of laws on finite sets *)
Theorem steinke_sec32_accuracy {A} (l : list A) P Q : law l P -> law l Q ->
  1 / 2 * probability l P (likely 1 P Q) + 1 / 2 * probability l Q (fun a => negb (likely 1 P Q a))
    = 1 / 2 + (sum l (fun a => Rabs (P a - Q a)) / 2) / 2.
Proof.
  intros HP HQ. rewrite <- HS_total_variation, <- HS_attained by auto.
  rewrite (probability_not l Q (likely 1 P Q) HQ). lra.
Qed.

(** * steinke.sec4.atom | finite sets, eps > 0 *)
Theorem steinke_sec4_atom {A} (l : list A) P Q eps : law l P -> law l Q -> 0 < eps ->
  dp l eps 0 P Q -> forall S, probability l P S = exp eps * probability l Q S ->
  probability l P S <= 1 / (1 + exp (- eps)).
Proof.
  intros HP HQ He [D E] S H.
  pose proof (E (fun a => negb (S a))) as K. rewrite (probability_not l P S HP) in H |- *.
  rewrite (probability_not l Q S HQ) in H.
  set (p := probability l P (fun a => negb (S a))) in *.
  set (q := probability l Q (fun a => negb (S a))) in *.
  pose proof (exp_ineq1 eps). assert (N : eps <> 0) by lra. specialize (H0 N).
  rewrite exp_Ropp. set (x := exp eps) in *.
  assert (1 - p <= x / (x + 1)).
  { apply Rmult_le_reg_r with (x + 1); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    assert ((1 - p) * (x + 1) * (x - 1) <= x * (x - 1)); [|nra].
    assert (1 - p = x * (1 - q)) by lra. nra. }
  replace (1 / (1 + / x)) with (x / (x + 1)) by (field; lra). auto.
Qed.

(** * steinke.sec4.strict | finite sets, all outcomes possible under both laws, eps > 0 *)
Theorem steinke_sec4_strict {A} (l : list A) P Q eps : positive_law l P -> positive_law l Q ->
  0 < eps -> dp l eps 0 P Q -> mean l P Q (fun z => z) < eps.
Proof.
  intros HP HQ He D. pose proof (pure_bounds l P Q eps HP HQ D) as B.
  (* z <= eps + (1 - e^(eps - z)) / e^(2 eps) *)
  set (c := exp (- (2 * eps))). assert (C : 0 < c) by apply exp_pos.
  apply Rle_lt_trans with
    (mean l P Q (fun z => (eps + c) * (fun _ => 1) z + - (c * exp eps) * exp (- z))).
  - apply mean_le; auto. intros a Ha. specialize (B a Ha). set (z := loss P Q a) in *.
    pose proof (exp_ineq1_le (eps - z)).
    assert (c * exp eps * exp (- z) = c * exp (eps - z)).
    { rewrite Rmult_assoc, <- exp_plus. do 2 f_equal. }
    assert (exp (eps - z) - 1 <= (eps - z) * exp (eps - z)).
    { pose proof (exp_ineq1_le (- (eps - z))). rewrite exp_Ropp in H1.
      pose proof (exp_pos (eps - z)). apply (Rmult_le_compat_r (exp (eps - z))) in H1; [|lra].
      rewrite Rinv_l in H1; lra. }
    assert (exp (eps - z) <= exp (2 * eps)) by (apply exp_le; lra).
    assert (K : c * exp (2 * eps) = 1).
    { unfold c. rewrite <- exp_plus. replace (- (2 * eps) + 2 * eps) with 0 by ring. apply exp_0. }
    assert ((eps - z) * exp (eps - z) <= (eps - z) * exp (2 * eps))
      by (apply Rmult_le_compat_l; lra).
    assert (c * (exp (eps - z) - 1) <= c * ((eps - z) * exp (2 * eps)))
      by (apply Rmult_le_compat_l; lra).
    replace (c * ((eps - z) * exp (2 * eps))) with (c * exp (2 * eps) * (eps - z)) in H4 by ring.
    rewrite K in H4. lra.
  - rewrite mean_linear, mean_one, mean_exp_minus by auto.
    assert (1 < exp eps). { pose proof (exp_ineq1 eps). assert (eps <> 0) by lra. specialize (H H0). lra. }
    nra.
Qed.

(** * steinke.prop14.c | as stated: an upper bound, attained *)
Theorem steinke_prop14_c eps t : 0 < t ->
  (forall z, (1 - exp (eps - z)) * exp (- (t * z)) <=
     exp (- (eps * t)) / (t + 1) * exp (t * ln (1 - 1 / (t + 1)))) /\
  let z := eps + ln (1 + 1 / t) in
  (1 - exp (eps - z)) * exp (- (t * z)) =
     exp (- (eps * t)) / (t + 1) * exp (t * ln (1 - 1 / (t + 1))).
Proof.
  intros Ht. assert (R0 : 1 - 1 / (t + 1) = t / (t + 1)) by (field; lra).
  assert (R1 : 1 + 1 / t = (t + 1) / t) by (field; lra).
  assert (L : ln (t / (t + 1)) = ln t - ln (t + 1)).
  { unfold Rdiv. rewrite ln_mult, ln_Rinv by (try lra; apply Rinv_0_lt_compat; lra). ring. }
  assert (L1 : ln ((t + 1) / t) = ln (t + 1) - ln t).
  { unfold Rdiv. rewrite ln_mult, ln_Rinv by (try lra; apply Rinv_0_lt_compat; lra). ring. }
  assert (V : exp (- (eps * t)) / (t + 1) * exp (t * ln (1 - 1 / (t + 1))) =
              exp (- (eps * t) + t * ln t - (t + 1) * ln (t + 1))).
  { rewrite R0, L. unfold Rdiv. rewrite <- (exp_ln (t + 1)) at 1 by lra.
    rewrite <- exp_Ropp, <- !exp_plus. f_equal. ring. }
  rewrite V. split.
  - intros z. destruct (Rle_lt_dec z eps) as [H|H].
    + pose proof (exp_at_least_1 (eps - z)). pose proof (exp_pos (- (t * z))).
      pose proof (exp_pos (- (eps * t) + t * ln t - (t + 1) * ln (t + 1))). nra.
    + pose proof (conversion_pointwise (z - eps) t Ht). assert (P : 0 < z - eps) by lra.
      specialize (H0 P). replace (- (z - eps)) with (eps - z) in H0 by ring.
      apply (Rmult_le_compat_r (exp (- (t * z)))) in H0; [|left; apply exp_pos].
      rewrite <- exp_plus in H0. eapply Rle_trans; [exact H0|]. apply exp_le. lra.
  - intros z. unfold z. rewrite R1, L1.
    replace (eps - (eps + (ln (t + 1) - ln t))) with (ln t - ln (t + 1)) by ring.
    unfold Rminus at 2. rewrite exp_plus, exp_Ropp, !exp_ln by lra.
    replace (1 - t * / (t + 1)) with (/ (t + 1)) by (field; lra).
    rewrite <- (exp_ln (t + 1)) at 1 by lra. rewrite <- exp_Ropp, <- exp_plus. f_equal. ring.
Qed.

(** * steinke.prop14 | finite sets, all outcomes possible under both laws, t > 0 *)
Theorem steinke_prop14 {A} (l : list A) P Q eps t : positive_law l P -> positive_law l Q -> 0 < t ->
  HS l (exp eps) P Q <= mean l P Q (fun z => exp (t * z)) *
    exp (- (t * eps) + t * ln t - (t + 1) * ln (t + 1)) /\
  mean l P Q (fun z => exp (t * z)) * exp (- (t * eps) + t * ln t - (t + 1) * ln (t + 1)) <=
    mean l P Q (fun z => exp (t * (z - eps))).
Proof.
  intros HP HQ Ht. split; [apply moment_to_delta; auto|].
  assert (E : mean l P Q (fun z => exp (t * (z - eps))) =
              mean l P Q (fun z => exp (t * z)) * exp (- (t * eps))).
  { unfold mean. rewrite <- sum_scale_r. apply sum_ext. intros a _.
    rewrite Rmult_assoc, <- exp_plus. do 2 f_equal. ring. }
  rewrite E. apply Rmult_le_compat_l.
  - apply sum_nonneg. intros a Ha. apply Rmult_le_pos; left; [apply HP; auto|apply exp_pos].
  - apply exp_le. pose proof (conversion_constant t Ht). lra.
Qed.

(** * steinke.prop14.zcdp steinke.rem15.a | finite sets, all outcomes possible under both laws *)
Theorem steinke_prop14_zcdp {A} (l : list A) P Q eps rho : positive_law l P -> positive_law l Q ->
  0 < rho -> rho < eps -> zcdp l rho P Q ->
  HS l (exp eps) P Q <= exp (- ((eps - rho) * (eps - rho) / (4 * rho))).
Proof.
  intros HP HQ Hr He Z. set (t := (eps - rho) / (2 * rho)).
  assert (T : 0 < t) by (apply Rdiv_lt_0_compat; lra).
  eapply Rle_trans; [apply (moment_to_delta l P Q eps t HP HQ T)|].
  apply Rle_trans with (exp (t * (t + 1) * rho) * exp (- (t * eps) + t * ln t - (t + 1) * ln (t + 1))).
  - apply Rmult_le_compat_r; [left; apply exp_pos|]. apply Z. lra.
  - rewrite <- exp_plus. apply exp_le. pose proof (conversion_constant t T).
    assert (t * (t + 1) * rho + - (t * eps) = - ((eps - rho) * (eps - rho) / (4 * rho)))
      by (unfold t; field; lra). lra.
Qed.
(** The corresponding epsilon: rho + 2 sqrt(rho log(1/delta)). *)
Theorem steinke_rem15_a rho eps delta : 0 < rho -> 0 < delta <= 1 -> rho <= eps ->
  delta = exp (- ((eps - rho) * (eps - rho) / (4 * rho))) <->
  eps = rho + 2 * sqrt (rho * ln (/ delta)).
Proof.
  intros Hr Hd He. assert (L : 0 <= ln (/ delta)).
  { rewrite ln_Rinv by lra. pose proof (ln_le_0 delta Hd). lra. }
  assert (N : 0 <= rho * ln (/ delta)) by (apply Rmult_le_pos; lra). split; intros H.
  - assert (E : rho * ln (/ delta) = (eps - rho) / 2 * ((eps - rho) / 2)).
    { rewrite ln_Rinv by lra. rewrite H at 1. rewrite ln_exp. field. lra. }
    rewrite E, sqrt_square; lra.
  - replace ((eps - rho) * (eps - rho) / (4 * rho)) with (ln (/ delta)).
    + rewrite ln_Rinv by lra. rewrite Ropp_involutive, exp_ln; lra.
    + assert (S : (eps - rho) * (eps - rho) = 4 * (rho * ln (/ delta))).
      { rewrite H. pose proof (sqrt_sqrt _ N). nra. }
      rewrite S. field. lra.
Qed.

(** * steinke.prop16 steinke.prop16.unitexp | finite sets, all outcomes possible under both laws *)
Theorem steinke_prop16 {A} (l : list A) P Q eps : positive_law l P -> positive_law l Q -> 0 < eps ->
  dp l eps 0 P Q -> zcdp l (eps * eps / 2) P Q.
Proof. apply pure_is_zcdp. Qed.
Theorem steinke_prop16_unitexp {A} (l : list A) P Q : positive_law l P -> positive_law l Q ->
  mean l P Q (fun z => exp (- z)) = 1.
Proof. apply mean_exp_minus. Qed.

(** * steinke.thm13 steinke.prop19 | finite sets, all outcomes possible under both laws *)
Theorem steinke_prop19 {A B} (l : list A) (m : list B) P Q K L r s :
  positive_law l P -> positive_law l Q ->
  (forall a, In a l -> positive_law m (K a)) -> (forall a, In a l -> positive_law m (L a)) ->
  zcdp l r P Q -> (forall a, In a l -> zcdp m s (K a) (L a)) ->
  zcdp (list_prod l m) (r + s) (joint P K) (joint Q L).
Proof. apply zcdp_joint. Qed.
Theorem steinke_thm13 {A B} (l : list A) (m : list B) P Q X Y r s :
  positive_law l P -> positive_law l Q -> positive_law m X -> positive_law m Y ->
  zcdp l r P Q -> zcdp m s X Y -> zcdp (list_prod l m) (r + s) (product P X) (product Q Y).
Proof. intros. apply zcdp_joint; auto. Qed.

(** * steinke.thm18 | adaptive mechanisms with finitely many outcomes, delta in (0, 1] *)
Theorem steinke_thm18 {B} (m : list B) eps slack X Y : 
  let s := map (fun e => Step e 0) eps in let S := sum eps (fun e => e * e) in
  (forall e, In e eps -> 0 <= e) -> 0 < S -> 0 < slack <= 1 -> adaptive s m X Y ->
  dp (words m (length eps)) (S / 2 + sqrt (2 * ln (/ slack) * S)) slack (run X) (run Y).
Proof.
  intros s S He HS0 Hs H.
  assert (V : List.Forall valid s).
  { apply List.Forall_forall. intros z Hz. apply in_map_iff in Hz as [e [<- I]]. split; simpl; auto. lra. }
  assert (Q : squares s = S). { unfold squares, s, S. rewrite sum_map. auto. }
  assert (K : kept s = 1). { unfold s. clear. induction eps; simpl; auto. rewrite IHeps. ring. }
  assert (Q0 : 0 < squares s) by (rewrite Q; auto).
  pose proof (advanced_composition m s X Y slack V H Hs Q0) as D.
  destruct (adaptive_laws s m X Y H) as [L0 L1].
  unfold s in D, L0, L1. rewrite map_length in D, L0, L1. fold s in D, L0, L1.
  pose proof (drift_below_squares s V). rewrite Q in *.
  refine (dp_weaker _ _ _ _ _ _ _ L0 L1 _ _ D); [lra|]. rewrite K. lra.
Qed.

(** * steinke.thm22.unionprod | as stated *)
Theorem steinke_thm22_unionprod deltas : (forall d, In d deltas -> 0 <= d <= 1) ->
  1 - fold_right (fun d r => (1 - d) * r) 1 deltas <= sum deltas (fun d => d).
Proof.
  intros H. assert (0 <= fold_right (fun d r => (1 - d) * r) 1 deltas <= 1 /\
    1 - fold_right (fun d r => (1 - d) * r) 1 deltas <= sum deltas (fun d => d)); [|tauto].
  induction deltas as [|d t IH]; simpl; [lra|].
  destruct (IH (fun x Hx => H x (or_intror Hx))) as [[B0 B1] B2].
  pose proof (H d (or_introl eq_refl)). split; [split|]; nra.
Qed.

(** * steinke.thm22 | adaptive mechanisms with finitely many outcomes, second branch with delta' <= 1 *)
Theorem steinke_thm22 {B} (m : list B) s X Y slack : List.Forall valid s -> 0 < squares s ->
  adaptive s m X Y -> 0 < slack ->
  let S := squares s in
  dp (words m (length s)) (sum s epsilon) (sum s delta + slack) (run X) (run Y) /\
  (slack <= 1 -> dp (words m (length s)) (S / 2 + sqrt (2 * ln (/ slack) * S))
    (sum s delta + slack) (run X) (run Y)).
Proof.
  intros V Q H Hs S. destruct (adaptive_laws s m X Y H) as [L0 L1]. split.
  - refine (dp_weaker _ _ _ _ _ _ _ L0 L1 _ _ (basic_composition m s X Y H)).
    + unfold total_epsilon. lra.
    + unfold total_delta. lra.
  - intros H1. assert (Hs1 : 0 < slack <= 1) by lra.
    pose proof (advanced_composition m s X Y slack V H Hs1 Q) as D.
    refine (dp_weaker _ _ _ _ _ _ _ L0 L1 _ _ D).
    + pose proof (drift_below_squares s V). unfold S. lra.
    + pose proof (kept_above s V). pose proof (kept_bounds s V). unfold total_delta in *. nra.
Qed.

(** * steinke.thm22.t | as stated *)
Theorem steinke_thm22_t S slack : 0 < S -> 0 < slack <= 1 ->
  let eps := S / 2 + sqrt (2 * ln (/ slack) * S) in
  let t := eps / S - 1 / 2 in
  t = sqrt (2 * ln (/ slack) / S) /\ t * (t + 1) * S / 2 - t * eps = - ln (/ slack).
Proof.
  intros HS Hs eps t. assert (L : 0 <= ln (/ slack)).
  { rewrite ln_Rinv by lra. pose proof (ln_le_0 slack Hs). lra. }
  set (r := sqrt (2 * ln (/ slack) * S)) in *.
  assert (N : 0 <= 2 * ln (/ slack) * S) by (apply Rmult_le_pos; lra).
  assert (R0 : 0 <= r) by apply sqrt_pos. assert (R1 : r * r = 2 * ln (/ slack) * S)
    by (apply sqrt_sqrt; auto).
  assert (T : t = r / S) by (unfold t, eps; field; lra). rewrite T. split.
  - symmetry. apply sqrt_lem_1.
    + apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat. auto.
    + apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat. auto.
    + replace (r / S * (r / S)) with (r * r / (S * S)) by (field; lra). rewrite R1. field. lra.
  - unfold eps. replace (r / S * (r / S + 1) * S / 2 - r / S * (S / 2 + r)) with (- (r * r) / (2 * S))
      by (field; lra). rewrite R1. field. lra.
Qed.

(** * steinke.sec62.group | a chain of two pairs on a finite set *)
Theorem steinke_sec62_group {A} (l : list A) P Q W eps delta : 0 <= eps -> 0 <= delta ->
  close l eps delta P Q -> close l eps delta Q W ->
  close l (2 * eps) ((1 + exp eps) * delta) P W.
Proof.
  intros He Hd H K S. pose proof (H S). pose proof (K S). pose proof (exp_pos eps).
  replace (exp (2 * eps)) with (exp eps * exp eps) by (rewrite <- exp_plus; f_equal; ring).
  assert (exp eps * probability l Q S <= exp eps * (exp eps * probability l W S + delta))
    by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** * steinke.sec62.poisson | as stated, the eps > 0 case of its inequality *)
Theorem steinke_sec62_poisson p eps delta x : 0 <= p <= 1 -> 0 <= eps -> 0 <= delta -> 0 <= x <= 1 ->
  (1 - p + p * exp (- eps)) * x - p * exp (- eps) * delta >=
  (x - p * delta) / (1 - p + p * exp eps).
Proof.
  intros Hp He Hd Hx. pose proof (exp_at_least_1 eps He). rewrite exp_Ropp.
  set (e := exp eps) in *. assert (D : 0 < 1 - p + p * e) by nra. apply Rle_ge.
  apply Rmult_le_reg_r with (1 - p + p * e); auto. unfold Rdiv.
  rewrite Rmult_assoc, Rinv_l by lra.
  assert (I : 0 < / e) by (apply Rinv_0_lt_compat; lra). assert (E : / e * e = 1) by (apply Rinv_l; lra).
  assert (I1 : / e <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert (0 <= p * (1 - p)) by (apply Rmult_le_pos; lra).
  assert (0 <= / e * ((e - 1) * (e - 1))) by (apply Rmult_le_pos; [lra|apply Rle_0_sqr]).
  assert (X : (1 - p + p * / e) * (1 - p + p * e) = 1 + p * (1 - p) * (/ e * ((e - 1) * (e - 1))))
    by (field; lra).
  assert (Y : / e * (1 - p + p * e) <= 1).
  { replace (/ e * (1 - p + p * e)) with ((1 - p) * / e + p * (/ e * e)) by ring. rewrite E. nra. }
  replace (((1 - p + p * / e) * x - p * / e * delta) * (1 - p + p * e))
    with ((1 - p + p * / e) * (1 - p + p * e) * x - p * delta * (/ e * (1 - p + p * e))) by ring.
  rewrite X. assert (0 <= p * delta) by (apply Rmult_le_pos; lra).
  assert (0 <= x * (p * (1 - p) * (/ e * ((e - 1) * (e - 1))))).
  { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; auto. }
  assert (p * delta * (/ e * (1 - p + p * e)) <= p * delta * 1) by (apply Rmult_le_compat_l; auto).
  lra.
Qed.

(** * steinke.thm29.small | as stated *)
Theorem steinke_thm29_small p eps : 0 <= p <= 1 -> 0 <= eps ->
  ln (1 + p * (exp eps - 1)) <= p * (exp eps - 1) /\
  (eps <= 1 -> exp eps - 1 <= eps + eps * eps <= 2 * eps).
Proof.
  intros Hp He. pose proof (exp_at_least_1 eps He). split.
  - pose proof (ln_below (1 + p * (exp eps - 1))). assert (0 <= p * (exp eps - 1)) by nra. lra.
  - intros H1. split; [|nra]. assert (T : 0 <= eps <= 1) by lra.
    pose proof (exp_below_square eps T). lra.
Qed.

(** * steinke.thm25.const1 | as stated *)
Theorem steinke_thm25_const1 alpha delta n : 0 <= alpha <= 1 / 10 -> 0 < n -> 0 <= delta <= 1 / (100 * n) ->
  1 / 6 - 2 * (alpha * alpha) - 4 * n * delta >= 8 / 75 /\ 8 / 75 >= 1 / 10.
Proof.
  intros Ha Hn Hd. split; [|lra]. assert (alpha * alpha <= 1 / 100) by nra.
  assert (n * delta <= 1 / 100); [|lra].
  apply Rle_trans with (n * (1 / (100 * n))); [apply Rmult_le_compat_l; lra|].
  apply Req_le. field. lra.
Qed.

(** * steinke.thm25.const2 | as stated *)
Theorem steinke_thm25_const2 k n G : 0 < G -> 0 < n -> k >= 200 * (G * G) * n ->
  1 / 100 * k / (2 * (n * n) * (G * G)) >= 1 / n.
Proof.
  intros HG Hn Hk. assert (0 < G * G) by nra. assert (0 < n * n) by nra. apply Rle_ge.
  apply Rmult_le_reg_r with (2 * (n * n) * (G * G)); [nra|].
  replace (1 / 100 * k / (2 * (n * n) * (G * G)) * (2 * (n * n) * (G * G))) with (k / 100)
    by (field; lra).
  replace (1 / n * (2 * (n * n) * (G * G))) with (2 * n * (G * G)) by (field; lra). nra.
Qed.

(** * steinke.thm25.const3 | as stated *)
Theorem steinke_thm25_const3 k n G : 0 < G -> 0 < n -> 0 <= k ->
  sqrt (k / (200 * (n * n) * (G * G)) * (1 - 1 / 6)) >= sqrt k / (16 * n * G).
Proof.
  intros HG Hn Hk. apply Rle_ge. assert (P : 0 < 16 * n * G) by nra.
  assert (E : sqrt k / (16 * n * G) = sqrt (k / ((16 * n * G) * (16 * n * G)))).
  { rewrite sqrt_div_alt by nra. rewrite sqrt_square by lra. auto. }
  rewrite E. apply sqrt_le_1_alt. assert (0 < G * G) by nra. assert (0 < n * n) by nra.
  apply Rmult_le_reg_r with (n * n * (G * G)); [nra|].
  replace (k / (16 * n * G * (16 * n * G)) * (n * n * (G * G))) with (k / 256) by (field; lra).
  replace (k / (200 * (n * n) * (G * G)) * (1 - 1 / 6) * (n * n * (G * G))) with (k / 240) by (field; lra).
  lra.
Qed.

(** * steinke.lem36 | as stated *)
Theorem steinke_lem36 p x : 0 <= p <= 1 -> 0 < x -> 1 / (1 - p + p / x) <= 1 - p + p * x.
Proof.
  intros Hp Hx. assert (I : 0 < / x) by (apply Rinv_0_lt_compat; auto).
  assert (D : 0 < 1 - p + p / x).
  { unfold Rdiv. destruct (Req_dec p 0) as [->|]; [lra|]. assert (0 < p * / x) by nra. lra. }
  apply Rmult_le_reg_r with (1 - p + p / x); auto. unfold Rdiv at 1.
  rewrite Rmult_assoc, Rinv_l by lra.
  assert (E : (1 - p + p * x) * (1 - p + p / x) = 1 + p * (1 - p) * (/ x * ((x - 1) * (x - 1))))
    by (field; lra).
  rewrite E. assert (0 <= p * (1 - p)) by (apply Rmult_le_pos; lra).
  assert (0 <= / x * ((x - 1) * (x - 1))) by (apply Rmult_le_pos; [lra|apply Rle_0_sqr]). nra.
Qed.

(** * steinke.thm34.prefactor | as stated, every integer a >= 1 *)
Theorem steinke_thm34_prefactor a p : 0 <= p <= 1 ->
  (1 - p) ^ a * (1 + INR a * p) <= 1.
Proof.
  intros Hp. induction a; [simpl; lra|]. rewrite S_INR. simpl.
  pose proof (power_bounds (1 - p) a). assert (U : 0 <= 1 - p <= 1) by lra. specialize (H U).
  pose proof (pos_INR a).
  assert ((1 - p) * (1 + (INR a + 1) * p) <= 1 + INR a * p).
  { assert (0 <= INR a * (p * p)) by (apply Rmult_le_pos; [auto|nra]). nra. }
  assert ((1 - p) ^ a * ((1 - p) * (1 + (INR a + 1) * p)) <= (1 - p) ^ a * (1 + INR a * p))
    by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** * steinke.fn15 | as stated *)
Theorem steinke_fn15 k eps : 0 < k -> 0 < eps ->
  k * eps * (exp eps - 1) > k * (eps * eps) / 2.
Proof.
  intros Hk He. pose proof (exp_ineq1 eps). assert (eps <> 0) by lra. specialize (H H0).
  assert (0 < k * eps) by (apply Rmult_lt_0_compat; auto).
  assert (k * eps * eps < k * eps * (exp eps - 1)) by (apply Rmult_lt_compat_l; lra). nra.
Qed.

(** * steinke.prop16.mean | finite sets, all outcomes possible under both laws *)
Theorem steinke_prop16_mean {A} (l : list A) P Q eps : positive_law l P -> positive_law l Q ->
  0 < eps -> dp l eps 0 P Q -> mean l P Q (fun z => z) <= eps * eps / 2.
Proof.
  intros HP HQ He D. eapply Rle_trans; [apply (pure_mean l P Q eps HP HQ He D)|].
  pose proof (tanh_half_below eps). nra.
Qed.

(** * steinke.sec4.meanvar | finite sets, all outcomes possible under both laws *)
Theorem steinke_sec4_meanvar {A} (l : list A) P Q eps : positive_law l P -> positive_law l Q ->
  0 < eps -> dp l eps 0 P Q ->
  mean l P Q (fun z => z) <= eps * eps / 2 /\
  mean l P Q (fun z => z * z) - mean l P Q (fun z => z) * mean l P Q (fun z => z) <= eps * eps.
Proof.
  intros HP HQ He D. split.
  { eapply Rle_trans; [apply (pure_mean l P Q eps HP HQ He D)|]. pose proof (tanh_half_below eps). nra. }
  assert (mean l P Q (fun z => z * z) <= eps * eps).
  { apply Rle_trans with (mean l P Q (fun z => eps * eps * (fun _ => 1) z + 0 * (fun _ => 0) z)).
    - apply mean_le; auto. intros a Ha.
      pose proof (pure_bounds l P Q eps HP HQ D a Ha). nra.
    - rewrite mean_linear, mean_one by auto. lra. }
  pose proof (Rle_0_sqr (mean l P Q (fun z => z))). unfold Rsqr in *. lra.
Qed.

(** * steinke.lem17 | finite sets of values *)
Theorem steinke_lem17 {A} (l : list A) P (Z : A -> R) eps t : law l P -> 0 < eps ->
  (forall a, In a l -> - eps <= Z a <= eps) ->
  sum l (fun a => P a * exp (t * Z a)) <=
    exp (t * sum l (fun a => P a * Z a) + t * t * (eps * eps) / 2).
Proof.
  intros [NP SP] He B. set (mu := sum l (fun a => P a * Z a)).
  assert (M : - eps <= mu <= eps).
  { split.
    - replace (- eps) with (- eps * sum l P) by (rewrite SP; ring). rewrite <- sum_scale.
      apply sum_le. intros a Ha. pose proof (B a Ha). pose proof (NP a Ha). nra.
    - replace eps with (eps * sum l P) by (rewrite SP; ring). rewrite <- sum_scale.
      apply sum_le. intros a Ha. pose proof (B a Ha). pose proof (NP a Ha). nra. }
  set (p := (eps + mu) / (2 * eps)).
  assert (Hp : 0 <= p <= 1).
  { unfold p. split.
    - apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat. lra.
    - apply Rmult_le_reg_r with (2 * eps); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  apply Rle_trans with (two_points p (t * eps)).
  - apply Rle_trans with (sum l (fun a => (exp (t * eps) / 2 + exp (- (t * eps)) / 2) * P a
      + (exp (t * eps) - exp (- (t * eps))) / (2 * eps) * (P a * Z a))).
    + apply sum_le. intros a Ha. pose proof (exp_chord_between t eps (Z a) He (B a Ha)) as C.
      apply (Rmult_le_compat_l (P a)) in C; [|auto]. eapply Rle_trans; [exact C|].
      apply Req_le. field. lra.
    + rewrite sum_plus, !sum_scale, SP. fold mu. apply Req_le. unfold two_points, p. field. lra.
  - eapply Rle_trans; [apply hoeffding; auto|]. apply exp_le. apply Req_le. unfold p. field. lra.
Qed.

(** * steinke.sec64.equiv | finite sets, all outcomes possible under both laws *)
(** (alpha, alpha rho)-RDP for every alpha = t + 1 > 1, the divergence being log E e^(tZ) / t. *)
Theorem steinke_sec64_equiv {A} (l : list A) P Q rho : positive_law l P -> positive_law l Q ->
  zcdp l rho P Q <-> forall alpha, 1 < alpha ->
    / (alpha - 1) * ln (mean l P Q (fun z => exp ((alpha - 1) * z))) <= alpha * rho.
Proof.
  intros HP HQ. assert (N : forall t, 0 < mean l P Q (fun z => exp (t * z))).
  { intros t. destruct HP as [NP SP]. destruct l as [|a r]; [simpl in SP; lra|].
    unfold mean; simpl. apply Rplus_lt_le_0_compat.
    - apply Rmult_lt_0_compat; [apply NP; left; auto|apply exp_pos].
    - apply sum_nonneg. intros b Hb. apply Rmult_le_pos; left; [apply NP; right; auto|apply exp_pos]. }
  split.
  - intros H alpha Ha. specialize (H (alpha - 1)). assert (T : 0 <= alpha - 1) by lra.
    specialize (H T). apply Rmult_le_reg_l with (alpha - 1); [lra|].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. apply exp_le_back. rewrite exp_ln by auto.
    eapply Rle_trans; [exact H|]. apply exp_le. lra.
  - intros H t Ht. destruct Ht as [Ht|<-].
    + specialize (H (t + 1)). assert (T : 1 < t + 1) by lra. specialize (H T).
      replace (t + 1 - 1) with t in H by ring. rewrite <- (exp_ln (mean l P Q _)) by auto.
      apply exp_le. apply (Rmult_le_compat_l t) in H; [|lra].
      rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l in H by lra. lra.
    + rewrite !Rmult_0_l, exp_0. apply Req_le. rewrite <- (mean_one l P Q HP).
      apply mean_ext. intros z. rewrite Rmult_0_l. apply exp_0.
Qed.

(** * steinke.lem27 | finite sets, both orders close *)
Theorem steinke_lem27 {A} (l : list A) P Q X eps delta D : law l P -> law l Q -> 0 <= eps ->
  (forall a, In a l -> - D <= X a <= D) -> 0 <= D -> dp l eps delta P Q ->
  expectation l P X <= expectation l Q X + (exp eps - 1) * expectation l Q (fun a => Rabs (X a))
    + 2 * delta * D.
Proof.
  intros HP HQ He B HD [H K]. apply close_iff_HS in H, K. pose proof (exp_at_least_1 eps He).
  set (g := exp eps) in *.
  assert (S1 : expectation l P X <= D * HS l g P Q + g * expectation l Q (fun a => positive_part (X a))
     + sum l (fun a => P a * - positive_part (- X a))).
  { unfold expectation, HS. rewrite <- !sum_scale, <- !sum_plus. apply sum_le. intros a Ha.
    pose proof (B a Ha). pose proof (positive_part_flip (X a)) as F.
    pose proof (positive_part_nonneg (X a)). pose proof (positive_part_above (P a - g * Q a)).
    pose proof (positive_part_nonneg (P a - g * Q a)).
    assert (positive_part (X a) <= D) by (apply Rmax_lub; lra).
    assert (positive_part (P a - g * Q a) * positive_part (X a) <= positive_part (P a - g * Q a) * D)
      by (apply Rmult_le_compat_l; lra).
    assert ((P a - g * Q a) * positive_part (X a) <= positive_part (P a - g * Q a) * positive_part (X a))
      by (apply Rmult_le_compat_r; lra).
    rewrite F. nra. }
  assert (S2 : sum l (fun a => P a * - positive_part (- X a)) <=
     D * HS l g Q P + / g * sum l (fun a => Q a * - positive_part (- X a))).
  { assert (G : 0 < / g) by (apply Rinv_0_lt_compat; lra).
    assert (G1 : / g <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
    unfold HS. rewrite <- !sum_scale, <- sum_plus. apply sum_le. intros a Ha. pose proof (B a Ha).
    pose proof (positive_part_nonneg (- X a)). assert (positive_part (- X a) <= D) by (apply Rmax_lub; lra).
    pose proof (positive_part_above (Q a - g * P a)). pose proof (positive_part_nonneg (Q a - g * P a)).
    assert (E : / g * (Q a - g * P a) = / g * Q a - P a) by (field; lra).
    assert (/ g * (Q a - g * P a) <= / g * positive_part (Q a - g * P a)) by (apply Rmult_le_compat_l; lra).
    assert (/ g * positive_part (Q a - g * P a) <= 1 * positive_part (Q a - g * P a))
      by (apply Rmult_le_compat_r; lra).
    assert ((/ g * Q a - P a) * positive_part (- X a) <= positive_part (Q a - g * P a) * positive_part (- X a))
      by (apply Rmult_le_compat_r; lra).
    assert (positive_part (Q a - g * P a) * positive_part (- X a) <= positive_part (Q a - g * P a) * D)
      by (apply Rmult_le_compat_l; lra). nra. }
  assert (S3 : g * expectation l Q (fun a => positive_part (X a)) +
     / g * sum l (fun a => Q a * - positive_part (- X a)) <=
     expectation l Q X + (g - 1) * expectation l Q (fun a => Rabs (X a))).
  { unfold expectation. rewrite <- !sum_scale, <- !sum_plus. apply sum_le. intros a Ha.
    destruct HQ as [NQ _]. pose proof (NQ a Ha).
    rewrite positive_part_flip, !positive_part_abs.
    assert (G : 0 < / g) by (apply Rinv_0_lt_compat; lra). assert (GG : / g * g = 1) by (apply Rinv_l; lra).
    assert (2 - g <= / g) by nra.
    set (r := Rabs (X a)). assert (0 <= r - X a) by (unfold r; pose proof (Rle_abs (X a)); lra).
    assert (0 <= Q a * ((r - X a) / 2) * (/ g - (2 - g))).
    { apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
    nra. }
  assert (D * HS l g P Q <= D * delta) by (apply Rmult_le_compat_l; lra).
  assert (D * HS l g Q P <= D * delta) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** * steinke.lem37 | as stated *)
Theorem steinke_lem37 p x v : 0 <= p <= 1 -> 0 < x -> 1 <= v ->
  3 * (1 - p) * exp (v * ln (1 - p + p * x)) + v * p * ((1 - p) / x + p) ^ 3 >= 3 * (1 - p) + v * p.
Proof.
  intros Hp Hx Hv. assert (I : 0 < / x) by (apply Rinv_0_lt_compat; auto).
  assert (Y : 0 < 1 - p + p * x).
  { destruct (Req_dec p 0) as [->|]; [lra|]. assert (0 < p * x) by nra. lra. }
  pose proof (bernoulli_real (1 - p + p * x) v Y Hv) as B1.
  pose proof (bernoulli ((1 - p) * (/ x - 1)) 3) as B2.
  assert (N : -1 <= (1 - p) * (/ x - 1)) by nra. specialize (B2 N).
  replace (1 + (1 - p) * (/ x - 1)) with ((1 - p) / x + p) in B2 by (field; lra).
  simpl INR in B2. apply Rle_ge.
  apply Rle_trans with (3 * (1 - p) * (1 + v * (1 - p + p * x - 1))
    + v * p * (1 + (1 + 1 + 1) * ((1 - p) * (/ x - 1)))).
  - assert (E : 3 * (1 - p) * (1 + v * (1 - p + p * x - 1))
      + v * p * (1 + (1 + 1 + 1) * ((1 - p) * (/ x - 1))) =
      3 * (1 - p) + v * p + 3 * v * (p * (1 - p)) * (/ x * ((x - 1) * (x - 1)))) by (field; lra).
    rewrite E. assert (0 <= p * (1 - p)) by (apply Rmult_le_pos; lra).
    assert (0 <= / x * ((x - 1) * (x - 1))) by (apply Rmult_le_pos; [lra|apply Rle_0_sqr]).
    assert (0 <= 3 * v * (p * (1 - p)) * (/ x * ((x - 1) * (x - 1)))).
    { apply Rmult_le_pos; auto. apply Rmult_le_pos; lra. }
    lra.
  - apply Rplus_le_compat.
    + apply Rmult_le_compat_l; lra.
    + apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]. exact B2.
Qed.

(** * steinke.thm35.proofstep | the corrected statement, alpha >= 2 *)
Theorem steinke_thm35_proofstep alpha p x : 2 <= alpha -> 0 <= p <= 1 -> 0 < x ->
  exp ((alpha - 2) * ln (1 - p + p / x)) * exp ((alpha - 2) * ln (1 - p + p * x)) >= 1.
Proof.
  intros Ha Hp Hx. assert (I : 0 < / x) by (apply Rinv_0_lt_compat; auto).
  assert (A : 0 < 1 - p + p / x).
  { unfold Rdiv. destruct (Req_dec p 0) as [->|]; [lra|]. assert (0 < p * / x) by nra. lra. }
  assert (B : 0 < 1 - p + p * x).
  { destruct (Req_dec p 0) as [->|]; [lra|]. assert (0 < p * x) by nra. lra. }
  rewrite <- exp_plus, <- Rmult_plus_distr_l, <- ln_mult by auto. apply Rle_ge, exp_at_least_1.
  apply Rmult_le_pos; [lra|]. rewrite <- ln_1.
  assert (E : (1 - p + p / x) * (1 - p + p * x) = 1 + p * (1 - p) * (/ x * ((x - 1) * (x - 1))))
    by (field; lra).
  assert (0 <= p * (1 - p) * (/ x * ((x - 1) * (x - 1)))).
  { apply Rmult_le_pos; [apply Rmult_le_pos; lra|]. apply Rmult_le_pos; [lra|apply Rle_0_sqr]. }
  rewrite E. destruct H as [H|<-]; [left; apply ln_increasing; lra|rewrite Rplus_0_r; lra].
Qed.
(** Below 2 it fails. *)
Theorem proofstep_fails : exp ((3 / 2 - 2) * ln (1 - 1 / 2 + 1 / 2 / 4)) *
  exp ((3 / 2 - 2) * ln (1 - 1 / 2 + 1 / 2 * 4)) < 1.
Proof. interval. Qed.

(** * steinke.rem15.b | as stated *)
Theorem steinke_rem15_b eps L : 0 <= eps -> 0 < L ->
  eps * eps / (4 * L + 4 * eps) <= (sqrt (L + eps) - sqrt L) * (sqrt (L + eps) - sqrt L)
    <= eps * eps / (4 * L).
Proof.
  intros He HL. set (u := sqrt (L + eps)). set (v := sqrt L).
  assert (U : u * u = L + eps) by (apply sqrt_sqrt; lra).
  assert (V : v * v = L) by (apply sqrt_sqrt; lra).
  assert (V0 : 0 < v) by (apply sqrt_lt_R0; auto).
  assert (UV : v <= u) by (apply sqrt_le_1_alt; lra).
  assert (E : eps = (u - v) * (u + v)) by lra.
  assert (D : 0 <= u - v) by lra. split.
  - apply Rmult_le_reg_r with (4 * L + 4 * eps); [lra|]. unfold Rdiv.
    rewrite Rmult_assoc, Rinv_l by lra.
    replace (4 * L + 4 * eps) with (4 * (u * u)) by lra. rewrite E.
    assert ((u + v) * (u + v) <= 4 * (u * u)) by nra.
    assert (0 <= (u - v) * (u - v)) by (apply Rle_0_sqr). nra.
  - apply Rmult_le_reg_r with (4 * L); [lra|].
    replace (eps * eps / (4 * L) * (4 * L)) with (eps * eps) by (field; lra).
    replace (4 * L) with (4 * (v * v)) by lra.
    replace (eps * eps) with ((u - v) * (u + v) * ((u - v) * (u + v))) by (rewrite <- E; ring).
    assert (F : 4 * (v * v) <= (u + v) * (u + v)) by nra.
    assert (G : 0 <= (u - v) * (u - v)) by (apply Rle_0_sqr).
    pose proof (Rmult_le_compat_l _ _ _ G F). lra.
Qed.

(** * steinke.sec63.eps1 | eps0 <= 1, with the constant 2 *)
Theorem steinke_sec63_eps1 p eps : 0 <= p <= 1 -> 0 <= eps <= 1 ->
  ln (1 + p * (exp eps - 1)) <= 2 * p * eps.
Proof.
  intros Hp He. pose proof (exp_at_least_1 eps (proj1 He)).
  pose proof (ln_below (1 + p * (exp eps - 1))). pose proof (exp_below_square eps He).
  assert (0 <= p * (exp eps - 1)) by nra.
  assert (p * (exp eps - 1) <= p * (2 * eps)) by (apply Rmult_le_compat_l; nra). lra.
Qed.

(** * steinke.sec64.tails | finite sets, all outcomes possible under both laws *)
Theorem steinke_sec64_tails {A} (l : list A) P Q : positive_law l P -> positive_law l Q ->
  let tail e := mean l P Q (fun z => if Rlt_dec e z then 1 else 0) in
  (forall rho e, 0 < rho -> rho <= e -> zcdp l rho P Q ->
     tail e <= exp (- ((e - rho) * (e - rho) / (4 * rho)))) /\
  (forall alpha e eps, 1 < alpha ->
     mean l P Q (fun z => exp ((alpha - 1) * z)) <= exp ((alpha - 1) * eps) ->
     tail e <= exp (- ((alpha - 1) * (e - eps)))) /\
  (forall eps, dp l eps 0 P Q -> tail eps = 0).
Proof.
  intros HP HQ tail.
  assert (M : forall t e, 0 <= t -> tail e <= mean l P Q (fun z => exp (t * z)) * exp (- (t * e))).
  { intros t e Ht. unfold tail, mean. rewrite <- sum_scale_r. apply sum_le. intros a Ha.
    assert (0 < P a) by (apply HP; auto). rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|].
    rewrite <- exp_plus. destruct (Rlt_dec e (loss P Q a)); [|left; apply exp_pos].
    apply exp_at_least_1. nra. }
  split; [|split].
  - intros rho e Hr He Z. set (t := (e - rho) / (2 * rho)).
    assert (T : 0 <= t).
    { apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat. lra. }
    eapply Rle_trans; [apply (M t e T)|].
    apply Rle_trans with (exp (t * (t + 1) * rho) * exp (- (t * e))).
    + apply Rmult_le_compat_r; [left; apply exp_pos|]. apply Z; auto.
    + rewrite <- exp_plus. apply exp_le, Req_le. unfold t. field. lra.
  - intros alpha e eps Ha H. eapply Rle_trans; [apply (M (alpha - 1) e); lra|].
    apply Rle_trans with (exp ((alpha - 1) * eps) * exp (- ((alpha - 1) * e))).
    + apply Rmult_le_compat_r; [left; apply exp_pos|]. auto.
    + rewrite <- exp_plus. apply exp_le. lra.
  - intros eps D. unfold tail, mean. transitivity (sum l (fun _ => 0)); [|apply sum_zero].
    apply sum_ext. intros a Ha. pose proof (pure_bounds l P Q eps HP HQ D a Ha).
    destruct (Rlt_dec eps (loss P Q a)); lra.
Qed.

(** * steinke.lem20 steinke.cor21 | kernels between finite sets, all outcomes possible under all laws *)
Theorem steinke_lem20 {A B} (l : list A) (m : list B) K P Q t :
  positive_law l P -> positive_law l Q -> kernel l m K ->
  positive_law m (push l P K) -> positive_law m (push l Q K) -> 0 <= t ->
  mean m (push l P K) (push l Q K) (fun z => exp (t * z)) <= mean l P Q (fun z => exp (t * z)).
Proof. apply moment_kernel. Qed.
Theorem steinke_cor21 {A B} (l : list A) (m : list B) K P Q rho :
  positive_law l P -> positive_law l Q -> kernel l m K ->
  positive_law m (push l P K) -> positive_law m (push l Q K) ->
  zcdp l rho P Q -> zcdp m rho (push l P K) (push l Q K).
Proof.
  intros HP HQ HK HP1 HQ1 Z t Ht. eapply Rle_trans; [apply (steinke_lem20 l m K P Q t)|]; auto.
Qed.

(** * steinke.prop42.lines | as stated, p in (0, 1] *)
Theorem steinke_prop42_lines a p D : 1 < a -> 0 < p <= 1 ->
  let c := a / (a - 1) in
  c * ln (1 - p + p * exp ((1 - 1 / a) * D)) =
    D - c * ln (/ p) + c * ln (1 + (1 - p) / p * exp (- ((a - 1) * D / a))) /\
  c * ln (1 + (1 - p) / p * exp (- ((a - 1) * D / a))) <=
    c * ((1 - p) / p * exp (- ((a - 1) * D / a))).
Proof.
  intros Ha Hp c. assert (C : 0 < c) by (apply Rdiv_lt_0_compat; lra).
  set (w := exp (- ((a - 1) * D / a))). assert (W : 0 < w) by apply exp_pos.
  assert (E : exp ((1 - 1 / a) * D) = / w).
  { unfold w. rewrite <- exp_Ropp. f_equal. field. lra. }
  assert (P0 : 0 <= (1 - p) / p).
  { apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat. lra. }
  assert (P1 : 0 <= (1 - p) / p * w) by (apply Rmult_le_pos; lra). split.
  - rewrite E. replace (1 - p + p * / w) with (p * (/ w) * (1 + (1 - p) / p * w)) by (field; lra).
    assert (Wi : 0 < / w) by (apply Rinv_0_lt_compat; auto).
    rewrite !ln_mult by (try lra; apply Rmult_lt_0_compat; lra).
    rewrite !ln_Rinv by lra. unfold w at 1. rewrite ln_exp. unfold c. field. lra.
  - apply Rmult_le_compat_l; [lra|]. pose proof (ln_below (1 + (1 - p) / p * w)). lra.
Qed.
