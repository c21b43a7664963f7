(** Proofs of typed statements about privacy losses between laws under which all outcomes are
    possible. *)

(** * steinke.sec3.tv_formulas *)
intros A l P Q HP HQ. pose proof (steinke_sec3_tv_formulas l P Q HP HQ) as [H0 H1].
unfold total_variation. split.
- rewrite H0. apply mean_ext; auto. intros z. rewrite minus_one. do 3 f_equal. ring.
- rewrite H1. unfold Rdiv. rewrite Rmult_1_l, Rmult_comm. f_equal. apply mean_ext; auto.
  intros z. rewrite minus_one. do 3 f_equal. ring.

(** * steinke.sec3.puredp *)
split; [|split]; intros A l P Q x HP HQ Hx H.
- apply sure_below; auto.
- apply below_sure; auto.
- destruct HP as [NP SP]. rewrite <- SP. apply sum_ext. intros a Ha. unfold likely.
  destruct (Rle_dec (exp (- 1 * x) * Q a) (P a)) as [|N]; auto. exfalso. apply N.
  apply (pure_pointwise l Q P (exp x) H) in Ha. replace (- 1 * x) with (- x) by ring.
  rewrite exp_Ropp. apply Rmult_le_reg_l with (exp x); [apply exp_pos|].
  rewrite <- Rmult_assoc, Rinv_r by (pose proof (exp_pos x); lra). lra.

(** * steinke.sec3.kl *)
intros A l P Q HP HQ. apply Rle_ge, kl_nonneg; auto.

(** * steinke.sec3.adp_bullet *)
split.
- intros A l P Q x d HP HQ _ _ _ H. pose proof (divergence_below_tail l P Q x HP HQ). lra.
- intros A l P Q x HP HQ _. rewrite HS_mean by auto. apply mean_ext; auto. intros z.
  unfold positive_part. rewrite !minus_one. auto.

(** * steinke.sec32.accuracy *)
intros A l P Q HP HQ. rewrite total_variation_HS by auto. rewrite <- HS_attained.
rewrite (probability_not l Q (likely 1 P Q) HQ).
field.

(** * steinke.sec4.atom *)
intros A l P Q x HP HQ Hx H0 H1. replace (- 1 * x) with (- x) by ring.
apply (steinke_sec4_atom l P Q x HP HQ Hx (conj (proj2 (close_iff_HS _ _ _ _ _) H0)
  (proj2 (close_iff_HS _ _ _ _ _) H1))).
unfold probability. rewrite <- sum_scale. apply sum_ext. intros a Ha. unfold likely.
destruct (Rle_dec (exp x * Q a) (P a)) as [L|L]; [|ring].
pose proof (pure_pointwise l P Q (exp x) H0 a Ha). lra.

(** * steinke.sec4.strict *)
intros A l P Q x HP HQ Hx H0 H1. apply (steinke_sec4_strict l P Q x HP HQ Hx).
split; apply close_iff_HS; auto.

(** * steinke.sec4.meanvar *)
intros A l P Q x HP HQ Hx H0 H1.
pose proof (steinke_sec4_meanvar l P Q x HP HQ Hx (conj (proj2 (close_iff_HS _ _ _ _ _) H0)
  (proj2 (close_iff_HS _ _ _ _ _) H1))) as [M V]. split; [lra|].
rewrite (mean_ext l P Q (fun z => z ^ 2) (fun z => z * z)) by (intros; ring). lra.

(** * steinke.prop16.mean *)
intros A l P Q x HP HQ Hx H0 H1.
pose proof (steinke_prop16_mean l P Q x HP HQ Hx (conj (proj2 (close_iff_HS _ _ _ _ _) H0)
  (proj2 (close_iff_HS _ _ _ _ _) H1))) as M. lra.

(** * steinke.prop16.unitexp *)
intros A l P Q HP HQ. rewrite <- (mean_exp_minus l P Q HP HQ). apply mean_ext; auto.
intros z. f_equal. ring.

(** * steinke.prop16 *)
intros A l P Q x t HP HQ Hx Ht H0 H1.
pose proof (pure_is_zcdp l P Q x HP HQ Hx (conj (proj2 (close_iff_HS _ _ _ _ _) H0)
  (proj2 (close_iff_HS _ _ _ _ _) H1)) t Ht) as M.
replace (t * (t + 1) * x ^ 2 / 2) with (t * (t + 1) * (x * x / 2)) by field. exact M.

(** * steinke.prop14 *)
intros A l P Q x t HP HQ Hx Ht. pose proof (steinke_prop14 l P Q x t HP HQ Ht) as [H0 H1].
rewrite conversion_factor by auto. split; [exact H0|]. eapply Rle_trans; [exact H1|].
apply Req_le, mean_ext; auto. intros z. rewrite minus_one. auto.

(** * steinke.prop14.c *)
split.
- intros x t z _ Ht. pose proof (steinke_prop14_c x t Ht) as [H _]. specialize (H z).
  rewrite !minus_one. replace (- 1 * (t * z)) with (- (t * z)) by ring.
  replace (- 1 * (x * t)) with (- (x * t)) by ring. exact H.
- intros x t z _ Ht ->. pose proof (steinke_prop14_c x t Ht) as [_ H]. cbv zeta in H.
  rewrite !minus_one. replace (- 1 * (t * (x + ln (1 + 1 / t))))
    with (- (t * (x + ln (1 + 1 / t)))) by ring.
  replace (- 1 * (x * t)) with (- (x * t)) by ring. exact H.

(** * steinke.prop14.zcdp *)
split.
- intros A l P Q r x t HP HQ Hr Hx Ht H. rewrite conversion_factor by auto.
  eapply Rle_trans; [apply (moment_to_delta l P Q x t); auto|].
  apply Rmult_le_compat_r; [left; apply exp_pos|]. exact H.
- intros A l P Q r x t HP HQ Hr Hx Ht H E M.
  assert (X : - 1 * ((x + - 1 * r) ^ 2 / (4 * r)) = t * (t + 1) * r - t * x)
    by (rewrite E; field; lra).
  rewrite X. destruct Ht as [Ht|<-].
  + eapply Rle_trans; [apply (moment_to_delta l P Q x t); auto|].
    apply Rle_trans with (exp (t * (t + 1) * r) * exp (- (t * x) + t * ln t - (t + 1) * ln (t + 1))).
    * apply Rmult_le_compat_r; [left; apply exp_pos|]. exact M.
    * rewrite <- exp_plus. apply exp_le. pose proof (conversion_constant t Ht). lra.
  + replace (0 * (0 + 1) * r - 0 * x) with 0 by ring. rewrite exp_0.
    apply HS_at_most_one; try (apply positive_law_law; auto). left. apply exp_pos.

(** * steinke.rem15.a *)
split.
- intros r L x Hr HL _ ->. assert (N : 0 <= r * L) by (apply Rmult_le_pos; lra).
  replace ((r + 2 * sqrt (r * L) + (- 1) * r) ^ 2) with (4 * (sqrt (r * L) * sqrt (r * L))) by ring.
  rewrite sqrt_sqrt by auto. field. lra.
- intros r L x Hr HL _ -> H.
  replace (r * ((x + - 1 * r) ^ 2 / (4 * r))) with ((x - r) / 2 * ((x - r) / 2)) by (field; lra).
  rewrite sqrt_square by lra. field.

(** * steinke.sec64.equiv *)
split; intros A l P Q r a HP HQ Hr Ha H; rewrite moment_mean in *; rewrite !less_one in *;
  pose proof (mean_exp_pos l P Q HP (a - 1)) as M.
- apply Rmult_le_reg_r with (a - 1); [lra|].
  replace (ln (mean l P Q (fun z => exp ((a - 1) * z))) / (a - 1) * (a - 1))
    with (ln (mean l P Q (fun z => exp ((a - 1) * z)))) by (field; lra).
  replace (a * r * (a - 1)) with (ln (exp ((a - 1) * a * r))) by (rewrite ln_exp; ring).
  apply ln_le; auto.
- apply (Rmult_le_compat_r (a - 1)) in H; [|lra].
  replace (ln (mean l P Q (fun z => exp ((a - 1) * z))) / (a - 1) * (a - 1))
    with (ln (mean l P Q (fun z => exp ((a - 1) * z)))) in H by (field; lra).
  rewrite <- (exp_ln (mean l P Q (fun z => exp ((a - 1) * z)))) by auto. apply exp_le. lra.

(** * steinke.prop19 *)
intros A l B m P Q K L t r s HP HQ HK HL Ht Hr Hs H0 H1.
replace (t * (t + 1) * (r + s)) with (t * (t + 1) * r + t * (t + 1) * s) by ring.
rewrite exp_plus. apply moment_joint; auto; [|left; apply exp_pos].
intros a Ha. pose proof (largest_below _ _ _ H1 a Ha) as M. cbv beta in M.
rewrite moment_mean in M. replace (t + 1 - 1) with t in M by ring. exact M.

(** * steinke.thm13 *)
intros A l B m P Q V W t r s HP HQ HV HW Ht Hr Hs H0 H1.
replace (t * (t + 1) * (r + s)) with (t * (t + 1) * r + t * (t + 1) * s) by ring.
rewrite exp_plus. apply moment_joint; auto. left; apply exp_pos.

(** * steinke.lem20 *)
intros A l B m P Q K t HP HQ HK Ht. apply moment_push; auto.

(** * steinke.cor21 *)
intros A l B m P Q K t r HP HQ HK Ht Hr H. eapply Rle_trans; [|exact H].
apply moment_push; auto.

(** * steinke.sec64.tails *)
split; [|split].
- intros A l P Q r x t HP HQ Hr _ Ht H E M.
  assert (X : - 1 * ((x + - 1 * r) ^ 2 / (4 * r)) = t * (t + 1) * r + - (t * x))
    by (rewrite E; field; lra).
  rewrite X, exp_plus. eapply Rle_trans; [apply (markov l P Q t x); auto|].
  apply Rmult_le_compat_r; [left; apply exp_pos|]. exact M.
- intros A l P Q a x y HP HQ Ha _ _ M. rewrite moment_mean in M. rewrite !less_one, !minus_one in *.
  replace (- 1 * ((a - 1) * (x - y))) with ((a - 1) * y + - ((a - 1) * x)) by ring. rewrite exp_plus.
  eapply Rle_trans; [apply (markov l P Q (a - 1) x); auto; lra|].
  apply Rmult_le_compat_r; [left; apply exp_pos|]. exact M.
- intros A l P Q x HP HQ _ H. pose proof (sure_below l P Q x HP H) as S.
  rewrite (probability_not l P) in S by (apply positive_law_law; auto). lra.

(** * steinke.lem31 *)
split.
- intros A l B m P Q K L a x y HP HQ HK HL Ha Hx Hy H0 H1. rewrite moment_mean in *.
  rewrite !less_one in *. rewrite Rmult_plus_distr_l, exp_plus.
  apply moment_joint; auto; [|left; apply exp_pos].
  intros b Hb. exact (largest_below _ _ _ H1 b Hb).
- intros. rewrite !less_one. apply moments_rise; auto.

(** * steinke.lem33.1 *)
intros A l B m P Q K a HP HQ HK Ha. rewrite !moment_mean. split.
- apply moment_at_least_1; auto using push_positive. lra.
- apply moment_push; auto. lra.

(** * steinke.lem33.2 *)
split.
- intros A l B m P Q V W a HP HQ HV HW Ha. rewrite !moment_mean. unfold mean at 1.
  rewrite sum_prod. unfold mean at 1. rewrite <- sum_scale_r. apply sum_ext. intros b Hb.
  unfold mean. rewrite <- sum_scale. apply sum_ext. intros c Hc. unfold product.
  rewrite (joint_loss l m) by auto. unfold joint. simpl. rewrite Rmult_plus_distr_l, exp_plus. ring.
- intros A l B m P Q K L a HP HQ HK HL Ha. rewrite !moment_mean. apply moment_joint; auto; [lra| |].
  + intros b Hb. exact (largest_below l (fun h => moment m a (K h) (L h)) _ (Rle_refl _) b Hb).
  + assert (I : exists b, In b l).
    { destruct l as [|b l']; [|exists b; left; auto]. destruct HP as [_ S]. simpl in S. lra. }
    destruct I as [b Hb].
    eapply Rle_trans; [|exact (largest_below l (fun h => moment m a (K h) (L h)) _ (Rle_refl _) b Hb)].
    rewrite moment_mean. left. apply (mean_exp_pos m (K b) (L b) (HK b Hb)).

(** * steinke.lem33.3 *)
intros. rewrite !less_one. apply moments_rise; auto.

(** * steinke.lem33.8 *)
intros A l P Q S x a HP HQ Ha. pose proof (HS_above l (exp x) P Q S) as H.
assert (T : 0 < a - 1) by lra. pose proof (moment_to_delta l P Q x (a - 1) HP HQ T) as M.
rewrite moment_mean, !less_one, minus_one. replace (- 1 * ((a - 1) * x)) with (- (x * (a - 1))) by ring.
pose proof (conversion_factor x (a - 1) T) as F. replace (a - 1 + 1) with a in * by ring.
rewrite minus_one in F. replace (- 1 * (x * (a - 1))) with (- (x * (a - 1))) in F by ring.
rewrite <- F in M.
match goal with |- _ <= _ + ?m * ?e / a * ?f =>
  replace (m * e / a * f) with (m * (e / a * f)) by (unfold Rdiv; ring) end. lra.

(** * steinke.sec66.lower *)
intros A l P Q p a HP HQ H0 H1 Ha.
assert (M : exp (a * ln p) * moment l a P Q <= moment l a (mixed p P Q) Q).
{ unfold moment.
  rewrite <- sum_scale. apply sum_le. intros b Hb.
  assert (X : 0 < P b) by (apply HP; auto). assert (Y : 0 < Q b) by (apply HQ; auto).
  replace (a * ln p) with (ln p + (a - 1) * ln p) by ring. rewrite exp_plus, exp_ln by auto.
  replace (p * exp ((a - 1) * ln p) * (P b * exp ((a - 1) * ln (P b / Q b))))
    with (p * P b * (exp ((a - 1) * ln p) * exp ((a - 1) * ln (P b / Q b)))) by ring.
  rewrite <- exp_plus, <- Rmult_plus_distr_l, <- ln_mult by (auto; apply Rdiv_lt_0_compat; auto).
  assert (Z : p * P b <= mixed p P Q b).
  { unfold mixed. assert (0 <= (1 - p) * Q b) by (apply Rmult_le_pos; lra). lra. }
  assert (W : 0 < p * P b) by (apply Rmult_lt_0_compat; auto).
  apply Rmult_le_compat; auto; try (left; auto; apply exp_pos). apply exp_le.
  apply Rmult_le_compat_l; [lra|]. apply ln_le.
  - apply Rmult_lt_0_compat; auto. apply Rdiv_lt_0_compat; auto.
  - unfold Rdiv. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; auto. left.
    apply Rinv_0_lt_compat; auto. }
split; [lra|]. assert (X : 0 < moment l a P Q) by (apply (mean_exp_pos l P Q HP (a - 1))).
assert (Y : 0 < exp (a * ln p) * moment l a P Q) by (apply Rmult_lt_0_compat; auto; apply exp_pos).
apply (Moments.ln_le _ _ Y) in M. rewrite ln_mult, ln_exp in M by (auto; apply exp_pos).
replace (1 / p) with (/ p) by (unfold Rdiv; ring). rewrite ln_Rinv by auto. rewrite !less_one.
apply Rle_ge. apply Rmult_le_reg_r with (a - 1); [lra|].
replace ((ln (moment l a P Q) / (a - 1) + - 1 * (a / (a - 1) * - ln p)) * (a - 1))
  with (a * ln p + ln (moment l a P Q)) by (field; lra).
replace (ln (moment l a (mixed p P Q) Q) / (a - 1) * (a - 1))
  with (ln (moment l a (mixed p P Q) Q)) by (field; lra). exact M.

(** * steinke.prop14.notoptimal *)
assert (L2 : 0 < ln 2) by (rewrite <- ln_1; apply ln_increasing; lra).
assert (L4 : ln 4 = 2 * ln 2) by (replace 4 with (2 * 2) by lra; rewrite ln_mult by lra; ring).
split.
- intros A l P Q [HP SP] [HQ SQ] H. rewrite <- L4, exp_ln in H by lra. rewrite exp_ln by lra.
  apply Rle_trans with ((- 1 / 14) * sum l P + 1 / 56 * sum l Q + 1 / 14 * mean l P Q exp).
  2:{ rewrite SP, SQ. change (fun z : R => exp z) with exp in H. lra. }
  unfold mean, HS. rewrite <- !sum_scale, <- !sum_plus. apply sum_le. intros a Ha.
  pose proof (HP a Ha) as p0. pose proof (HQ a Ha) as q0. unfold loss.
  rewrite exp_ln by (apply Rdiv_lt_0_compat; auto). set (y := P a / Q a).
  assert (Y : P a = y * Q a) by (unfold y; field; lra). rewrite Y.
  apply Rmax_lub.
  + replace (- 1 / 14 * (y * Q a) + 1 / 56 * Q a + 1 / 14 * (y * Q a * y))
      with (Q a * ((y - 1 / 2) ^ 2 / 14)) by field. pose proof (pow2_ge_0 (y - 1 / 2)). nra.
  + apply Rminus_le. replace (y * Q a - 4 * Q a - (- 1 / 14 * (y * Q a) + 1 / 56 * Q a +
      1 / 14 * (y * Q a * y))) with (- (Q a * ((y - 15 / 2) ^ 2 / 14))) by field.
    pose proof (pow2_ge_0 (y - 15 / 2)). nra.
- intros t r x Ht _ Hr Hx. apply Rle_ge.
  replace (1 / 4) with (exp (- (2 * ln 2)))
    by (rewrite exp_Ropp, <- L4, exp_ln by lra; field).
  replace (1 + (- 1) * (1 / (t + 1))) with (/ ((t + 1) / (2 * t) * 2)) by (field; lra).
  assert (0 < (t + 1) / (2 * t)) by (apply Rdiv_lt_0_compat; lra).
  rewrite ln_Rinv, ln_mult by lra.
  replace (t + 1) with (exp (ln ((t + 1) / 2) + ln 2)) at 2
    by (rewrite exp_plus, !exp_ln by lra; field).
  pose proof (ln_below ((t + 1) / (2 * t)) ltac:(lra)) as B0.
  pose proof (ln_below ((t + 1) / 2) ltac:(lra)) as B1.
  set (u := ln ((t + 1) / (2 * t))) in *. set (v := ln ((t + 1) / 2)) in *.
  unfold Rdiv at 1. rewrite <- exp_Ropp, <- !exp_plus. apply exp_le.
  assert (t * u <= t * ((t + 1) / (2 * t) - 1)) by (apply Rmult_le_compat_l; lra).
  replace (t * ((t + 1) / (2 * t) - 1)) with ((t + 1) / 2 - t) in * by (field; lra).
  assert (0 <= t * (t + 1)) by nra.
  assert (t * (t + 1) * ln 2 <= t * (t + 1) * r) by (apply Rmult_le_compat_l; lra).
  assert (x * t <= 2 * ln 2 * t) by (apply Rmult_le_compat_r; lra).
  assert (0 <= ln 2 * (t - 1) ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]). nra.

(** * steinke.thm34.tight *)
split.
- intros A l P Q p n [HP _] [HQ _] H0 H1 _.
  assert (K : forall m q j, 0 < m -> 0 < q ->
    m * exp ((INR j - 1) * ln (m / q)) = q * (m / q) ^ j).
  { intros m q j Hm Hq. assert (D : 0 < m / q) by (apply Rdiv_lt_0_compat; auto).
    replace ((INR j - 1) * ln (m / q)) with (INR j * ln (m / q) + - ln (m / q)) by ring.
    rewrite exp_plus, exp_Ropp, exp_ln by auto. change (exp (INR j * ln (m / q))) with
      (Rpower (m / q) (INR j)). rewrite Rpower_pow by auto. field. lra. }
  assert (C : forall k, (k <= n)%nat ->
    real_power (1 + (- 1) * p) (INR n + (- 1) * INR k) = (1 - p) ^ (n - k)).
  { intros k Hk. replace (1 + (- 1) * p) with (1 - p) by ring.
    replace (INR n + (- 1) * INR k) with (INR (n - k)) by (rewrite minus_INR by auto; ring).
    unfold real_power. destruct (Req_EM_T (1 - p) 0) as [->|N].
    - destruct (n - k)%nat as [|j]; [destruct (Req_EM_T (INR 0) 0) as [_|[]]; reflexivity|].
      destruct (Req_EM_T (INR (S j)) 0) as [Z|_]; [exfalso; revert Z; apply not_0_INR; lia|].
      simpl. ring.
    - change (Rpower (1 - p) (INR (n - k)) = (1 - p) ^ (n - k)). apply Rpower_pow. lra. }
  assert (S : forall f m, sum_f_R0 f m = sum (seq 0 (S m)) f).
  { intros f m. induction m; [simpl; ring|]. rewrite seq_S, sum_app, <- IHm. simpl. ring. }
  assert (B : forall x c, (x + c) ^ n =
    sum (seq 0 (Datatypes.S n)) (fun k => INR (choose n k) * c ^ (n - k) * x ^ k)).
  { intros x c. rewrite Binomial.binomial, S. apply sum_ext. intros k Hk. apply in_seq in Hk.
    rewrite choose_C by lia. ring. }
  transitivity (sum l (fun a => sum (seq 0 (Datatypes.S n)) (fun k =>
    INR (choose n k) * (1 - p) ^ (n - k) * p ^ k * (Q a * (P a / Q a) ^ k)))).
  + apply sum_ext. intros a Ha. pose proof (HP a Ha). pose proof (HQ a Ha).
    rewrite K; [|unfold mixed; nra|auto]. unfold mixed.
    replace ((p * P a + (1 - p) * Q a) / Q a) with (p * (P a / Q a) + (1 - p)) by (field; lra).
    rewrite B, <- sum_scale. apply sum_ext. intros. rewrite Rpow_mult_distr. ring.
  + rewrite sum_swap. apply sum_ext. intros k Hk. apply in_seq in Hk. rewrite C by lia.
    unfold moment. rewrite <- sum_scale. apply sum_ext. intros a Ha.
    rewrite K by (apply HP || apply HQ; auto). ring.
- intros A l P Q [HP SP] [HQ SQ]. unfold moment. rewrite <- SQ at 1. rewrite <- SP at 1.
  split; apply sum_ext; intros a Ha; pose proof (HP a Ha); pose proof (HQ a Ha).
  + replace ((0 - 1) * ln (P a / Q a)) with (- ln (P a / Q a)) by ring.
    rewrite exp_Ropp, exp_ln by (apply Rdiv_lt_0_compat; auto). field. lra.
  + replace ((1 - 1) * ln (P a / Q a)) with 0 by ring. rewrite exp_0. ring.

(** * steinke.thm35.maxneeded *)
assert (E : forall x, 0 < x -> exp ((2 - 1) * ln x) = x).
{ intros x Hx. replace ((2 - 1) * ln x) with (ln x) by ring. apply exp_ln. auto. }
unfold moment, mixed, coin, booleans. simpl sum. rewrite !E by lra. split; lra.
