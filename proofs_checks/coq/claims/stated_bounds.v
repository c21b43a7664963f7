(** Proofs of the typed statements of the older sources that bound one expression by another. *)

(** * kov.fig3.bottom *)
intros A l P Q S E HP HQ HE. pose proof (HS_above l E P Q S). pose proof (HS_attained l E P Q). lra.

(** * kov.eq17.identity *)
intros A l P Q x HP HQ _. rewrite HS_mean by auto. apply mean_ext; auto. intros z.
unfold positive_part. rewrite !minus_one. auto.

(** * kov.eq19 *)
intros A l P Q x t HP HQ Hx Ht. pose proof (moment_to_delta l P Q x t HP HQ Ht) as M.
rewrite <- conversion_factor in M by auto. eapply Rle_trans; [exact M|]. apply Req_le.
unfold Rdiv. ring.

(** * kov.sec6E.mgf_power *)
intros A l B m P Q V W t HP HQ HV HW. unfold mean at 1.
rewrite sum_prod. unfold mean at 1. rewrite <- sum_scale_r. apply sum_ext. intros b Hb.
unfold mean. rewrite <- sum_scale. apply sum_ext. intros c Hc. unfold product.
rewrite (joint_loss l m) by auto. unfold joint. simpl. rewrite Rmult_plus_distr_l, exp_plus. ring.

(** * kov.thm3.4.dt0 *)
intros k x L Hk Hx HL H. assert (0 <= INR k * x * tanh (x / 2)).
{ rewrite tanh_is_half. pose proof (tanh_half_nonneg x). apply Rmult_le_pos; nra. }
assert (INR k * x <= sqrt (2 * L * INR k * x ^ 2)).
{ rewrite <- (sqrt_square (INR k * x)) by nra. apply sqrt_le_1_alt.
  replace (INR k * x * (INR k * x)) with (INR k * (INR k * x ^ 2)) by ring.
  replace (2 * L * INR k * x ^ 2) with (2 * L * (INR k * x ^ 2)) by ring.
  apply Rmult_le_compat_r; [|lra]. pose proof (pow2_ge_0 x). nra. }
lra.

(** * kov.thm3.4.improves *)
intros k x c d Hk Hx Hc Hd Hd1 H.
assert (C : 0 < 1 / c) by (apply Rdiv_lt_0_compat; lra). pose proof (exp_pos 1) as E.
assert (D : exp 1 + 1 / c <= 1 / d).
{ apply Rmult_le_reg_r with d; auto. replace (1 / d * d) with 1 by (field; lra). lra. }
assert (L : ln (exp 1 + 1 / c) <= ln (1 / d)) by (apply Moments.ln_le; lra).
assert (S : sqrt (2 * ln (exp 1 + 1 / c) * INR k * x ^ 2) <= x * sqrt (2 * INR k * ln (1 / d))).
{ rewrite <- (sqrt_square x) at 2 by lra. rewrite <- sqrt_mult_alt by nra. apply sqrt_le_1_alt.
  replace (2 * ln (exp 1 + 1 / c) * INR k * x ^ 2) with (2 * INR k * (x * x) * ln (exp 1 + 1 / c)) by ring.
  replace (x * x * (2 * INR k * ln (1 / d))) with (2 * INR k * (x * x) * ln (1 / d)) by ring.
  apply Rmult_le_compat_l; auto. apply Rmult_le_pos; nra. }
rewrite tanh_is_half. pose proof (tanh_half_below x). pose proof (exp_ineq1_le x).
assert (0 < INR k * x) by nra. rewrite less_one.
assert (INR k * x * Analysis.tanh_half x < INR k * x * (exp x - 1)) by (apply Rmult_lt_compat_l; lra). lra.

(** * kov.sec6E.third *)
intros a d c Ha H0 H1 Hc E. assert (D : 1 <= 1 / d).
{ apply Rmult_le_reg_r with d; auto. replace (1 / d * d) with 1 by (field; lra). lra. }
assert (L : 0 <= ln (1 / d)) by (rewrite <- ln_1; apply Moments.ln_le; lra).
assert (X : - 1 * c ^ 2 / (2 * a ^ 2) = - ln (1 / d)).
{ rewrite E. replace ((a * sqrt (2 * ln (1 / d))) ^ 2)
    with (a ^ 2 * (sqrt (2 * ln (1 / d)) * sqrt (2 * ln (1 / d)))) by ring.
  rewrite sqrt_sqrt by lra. field. lra. }
rewrite X. replace (- ln (1 / d)) with (ln d)
  by (unfold Rdiv; rewrite Rmult_1_l, ln_Rinv by auto; ring).
rewrite exp_ln by auto. assert (0 <= c / a ^ 2) by (apply Rle_mult_inv_pos; nra).
apply Rmult_le_reg_r with (1 + c / a ^ 2); [lra|].
replace (d / (1 + c / a ^ 2) * (1 + c / a ^ 2)) with d by (field; split; nra). nra.

(** * kov.app.gauss_rhs *)
intros m d L Hm H0 H1 _ ->. assert (0 < m / d) by (apply Rdiv_lt_0_compat; lra).
pose proof (exp_pos 1) as E. assert (K : 1 <= ln (exp 1 + m / d)).
{ rewrite <- (ln_exp 1) at 1. apply Moments.ln_le; lra. }
assert (S : 1 <= sqrt (2 * ln (exp 1 + m / d))).
{ rewrite <- sqrt_1 at 1. apply sqrt_le_1_alt. lra. }
set (w := sqrt (m ^ 2 + sqrt (2 * ln (exp 1 + m / d)))).
assert (W : 1 <= w).
{ unfold w. rewrite <- sqrt_1 at 1. apply sqrt_le_1_alt. pose proof (pow2_ge_0 m). lra. }
assert (V : 1 / w <= 1).
{ apply Rmult_le_reg_r with w; [lra|]. replace (1 / w * w) with 1 by (field; lra). lra. }
assert (Q : 0 < exp 1 * d / m) by (apply Rdiv_lt_0_compat; nra).
assert (U : d / (exp 1 * d / m + 1) < d).
{ apply Rmult_lt_reg_r with (exp 1 * d / m + 1); [lra|].
  replace (d / (exp 1 * d / m + 1) * (exp 1 * d / m + 1)) with d by (field; split; nra). nra. }
assert (0 < d / (exp 1 * d / m + 1)) by (apply Rdiv_lt_0_compat; lra).
apply Rle_lt_trans with (1 * (d / (exp 1 * d / m + 1))); [|lra]. apply Rmult_le_compat_r; lra.

(** * kov.app.gauss_last *)
intros m d L s Hm H0 H1 _ Hs -> E. assert (0 < m / d) by (apply Rdiv_lt_0_compat; lra).
pose proof (exp_pos 1) as E1. assert (K : 1 <= ln (exp 1 + m / d)).
{ rewrite <- (ln_exp 1) at 1. apply Moments.ln_le; lra. }
assert (S2 : s ^ 2 = 2 * ln (exp 1 + m / d)).
{ rewrite E. simpl. rewrite Rmult_1_r. apply sqrt_sqrt. lra. }
assert (S : 1 <= s) by nra.
replace (- 1 * s ^ 2 / 2) with (- ln (exp 1 + m / d)) by (rewrite S2; field).
rewrite exp_Ropp, exp_ln by lra.
assert (W : sqrt (m ^ 2 + s) <= m + s).
{ rewrite <- (sqrt_square (m + s)) by lra. apply sqrt_le_1_alt. nra. }
assert (W0 : 0 < sqrt (m ^ 2 + s)) by (apply sqrt_lt_R0; nra).
assert (V : 1 / (m + s) <= 1 / sqrt (m ^ 2 + s)).
{ unfold Rdiv. rewrite !Rmult_1_l. apply Rinv_le_contravar; auto. }
replace (1 / (1 + s / m) * / (exp 1 + m / d)) with (1 / (m + s) * (d / (exp 1 * d / m + 1)))
  by (field; repeat split; nra).
apply Rmult_le_compat_r; auto. left. apply Rdiv_lt_0_compat; auto.
assert (0 < exp 1 * d / m) by (apply Rdiv_lt_0_compat; nra). lra.

(** * kov.app.gauss_sufficient *)
intros eps d L v He H0 H1 HL Hv E V1 V2. pose proof (exp_pos 1) as E1.
assert (T : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
assert (T2 : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra).
assert (L1 : 1 <= L).
{ rewrite E, <- (ln_exp 1) at 1. apply Moments.ln_le; auto.
  assert (0 < eps / d) by (apply Rdiv_lt_0_compat; lra). lra. }
assert (V3 : v * (4 * L) <= eps ^ 2).
{ apply (Rmult_le_compat_r (4 * L)) in V1; [|lra].
  replace (eps ^ 2 / (4 * L) * (4 * L)) with (eps ^ 2) in V1 by (field; lra). exact V1. }
assert (R0 : 0 < sqrt v) by (apply sqrt_lt_R0; auto).
assert (R1 : sqrt v * sqrt v = v) by (apply sqrt_sqrt; lra).
assert (R2 : sqrt v <= eps) by nra.
assert (M : ln (exp 1 + sqrt v / d) <= L).
{ rewrite E. assert (0 < sqrt v / d) by (apply Rdiv_lt_0_compat; lra).
  apply Moments.ln_le; [lra|]. apply Rplus_le_compat_l. unfold Rdiv. apply Rmult_le_compat_r; auto.
  left. apply Rinv_0_lt_compat. auto. }
assert (S : sqrt (2 * v * ln (exp 1 + sqrt v / d)) <= eps / sqrt 2).
{ assert (0 < eps / sqrt 2) by (apply Rdiv_lt_0_compat; lra).
  rewrite <- (sqrt_square (eps / sqrt 2)) by lra. apply sqrt_le_1_alt.
  replace (eps / sqrt 2 * (eps / sqrt 2)) with (eps ^ 2 / (sqrt 2 * sqrt 2)) by (field; lra).
  rewrite T2. apply Rle_trans with (2 * v * L); [apply Rmult_le_compat_l; lra|lra]. }
replace (2 * (1 + - 1 * (1 / sqrt 2)) * eps) with (2 * eps - 2 * (eps / sqrt 2)) in V2 by (field; lra). lra.

(** * steinke.lem17 *)
intros A l P Q x t HP HQ Hx H0 H1.
pose proof (pure_bounds l P Q x HP HQ (conj (proj2 (close_iff_HS _ _ _ _ _) H0)
  (proj2 (close_iff_HS _ _ _ _ _) H1))) as B.
set (m := mean l P Q (fun z => z)).
assert (M : - x <= m <= x).
{ assert (U : mean l P Q (fun _ => 1) = 1) by (apply mean_one; auto).
  split.
  - replace (- x) with (mean l P Q (fun z => - x * (fun _ => 1) z + 0 * z))
      by (rewrite (mean_linear l P Q (fun _ => 1) (fun z => z)), U; ring).
    apply mean_le; auto. intros a Ha. pose proof (B a Ha). lra.
  - replace x with (mean l P Q (fun z => x * (fun _ => 1) z + 0 * z))
      by (rewrite (mean_linear l P Q (fun _ => 1) (fun z => z)), U; ring).
    apply mean_le; auto. intros a Ha. pose proof (B a Ha). lra. }
set (p := (x + m) / (2 * x)).
assert (Hp : 0 <= p <= 1).
{ unfold p. split; [apply Rle_mult_inv_pos; lra|].
  apply Rmult_le_reg_r with (2 * x); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
apply Rle_trans with (two_points p (t * x)).
- apply Rle_trans with (mean l P Q (fun z => (exp (t * x) + exp (- (t * x))) / 2 * (fun _ => 1) z +
    (exp (t * x) - exp (- (t * x))) / (2 * x) * z)).
  + apply mean_le; auto. intros a Ha.
    eapply Rle_trans; [apply (exp_chord_between t x); auto|]. apply Req_le. field. lra.
  + rewrite (mean_linear l P Q (fun _ => 1) (fun z => z)), mean_one by auto. fold m.
    apply Req_le. unfold two_points, p. field. lra.
- eapply Rle_trans; [apply hoeffding; auto|]. apply exp_le. apply Req_le. unfold p. field. lra.

(** * steinke.thm18.dominance *)
split.
- intros x k L Hx Hk HL. pose proof (sqrt_pos (2 * INR k * L)).
  assert (0 <= x * sqrt (2 * INR k * L)) by (apply Rmult_le_pos; lra).
  assert (0 <= INR k * (x * (x - 2))) by (apply Rmult_le_pos; nra). lra.
- intros x k L H0 H1 Hk HL H.
  assert (S : sqrt (2 * INR k * L) <= INR k * (1 - x / 2)).
  { rewrite <- (sqrt_square (INR k * (1 - x / 2))) by nra. apply sqrt_le_1_alt.
    replace (INR k * (1 - x / 2) * (INR k * (1 - x / 2)))
      with (INR k * (INR k * (1 + - 1 * (x / 2)) ^ 2)) by ring.
    replace (2 * INR k * L) with (INR k * (2 * L)) by ring. apply Rmult_le_compat_l; lra. }
  assert (x * sqrt (2 * INR k * L) <= x * (INR k * (1 - x / 2))) by (apply Rmult_le_compat_l; lra). lra.

(** * steinke.thm22.decomp steinke.lem23.proofcoef *)
intros; repeat split; ring.

(** * steinke.thm25.remark1 *)
intros; nra.

(** * steinke.thm25.minactive *)
split.
- intros n H0 H1. assert (S : 16 / 10 * INR n <= sqrt (200 * INR n)).
  { rewrite <- (sqrt_square (16 / 10 * INR n)) by lra. apply sqrt_le_1_alt. nra. }
  apply Rle_ge. apply Rmult_le_reg_r with (16 * INR n); [lra|].
  replace (sqrt (200 * INR n) / (16 * INR n) * (16 * INR n)) with (sqrt (200 * INR n)) by (field; lra). lra.
- intros n H0. assert (S : sqrt (200 * INR n) < 16 / 10 * INR n).
  { rewrite <- (sqrt_square (16 / 10 * INR n)) by lra. apply sqrt_lt_1_alt. split; nra. }
  apply Rmult_lt_reg_r with (16 * INR n); [lra|].
  replace (sqrt (200 * INR n) / (16 * INR n) * (16 * INR n)) with (sqrt (200 * INR n)) by (field; lra). lra.

(** * steinke.thm29.tight *)
intros; split; field; lra.

(** * steinke.sec63.eps0 *)
intros r L c Hr HL Hc H. assert (S : r <= sqrt c * sqrt (r * L)).
{ rewrite <- sqrt_mult_alt by lra. rewrite <- (sqrt_square r) at 1 by lra. apply sqrt_le_1_alt. nra. }
lra.

(** * steinke.sec63.total *)
intros T L c eps HT HL Hc He H.
assert (S : sqrt (2 * T * L) = sqrt 2 * sqrt (T * L)) by (rewrite <- sqrt_mult_alt by lra; f_equal; ring).
rewrite S. assert (K : T * eps <= sqrt c * sqrt (T * L)).
{ rewrite <- sqrt_mult_alt by lra. rewrite <- (sqrt_square (T * eps)) by nra. apply sqrt_le_1_alt.
  replace (T * eps * (T * eps)) with (T * (T * eps ^ 2)) by ring.
  replace (c * (T * L)) with (T * (c * L)) by ring. apply Rmult_le_compat_l; lra. }
assert (eps * (T * eps) <= eps * (sqrt c * sqrt (T * L))) by (apply Rmult_le_compat_l; lra). lra.

(** * steinke.lem33.7b *)
intros a b c x Ha Hb Hc Hx. split.
- assert (S : 0 < sqrt x) by (apply sqrt_lt_R0; auto).
  assert (X : x = sqrt x * sqrt x) by (symmetry; apply sqrt_sqrt; lra).
  set (s := sqrt x) in *. clearbody s. subst x. field. lra.
- assert (Q : 0 < b / c) by (apply Rdiv_lt_0_compat; auto).
  assert (S : 0 < sqrt (b / c)) by (apply sqrt_lt_R0; auto).
  assert (X : sqrt (b / c) * sqrt (b / c) = b / c) by (apply sqrt_sqrt; lra).
  apply Rmult_eq_reg_r with (sqrt (b / c)); [|lra].
  replace ((b / sqrt (b / c) + - 1 * (c * sqrt (b / c))) * sqrt (b / c))
    with (b - c * (sqrt (b / c) * sqrt (b / c))) by (field; lra).
  rewrite X. field. lra.

(** * steinke.thm38.beyond *)
intros a L r p Ha HL Hr H0 H1 H. assert (P : 0 < 1 - 10 * p ^ 2) by nra.
replace (1 + - 1 * (10 * p ^ 2)) with (1 - 10 * p ^ 2) in H by ring.
assert (K : L < (a - 1) * (r * (1 - 10 * p ^ 2))).
{ assert (G : L / (r * (1 - 10 * p ^ 2)) < a - 1) by lra.
  apply (Rmult_lt_compat_r (r * (1 - 10 * p ^ 2))) in G; [|nra].
  replace (L / (r * (1 - 10 * p ^ 2)) * (r * (1 - 10 * p ^ 2))) with L in G by (field; lra). lra. }
rewrite less_one. apply Rlt_gt. apply Rmult_lt_reg_r with (a - 1); [lra|].
replace ((r * a + - 1 * (L * a / (a - 1))) * (a - 1)) with (a * (r * (a - 1) - L)) by (field; lra). nra.

(** * gdp.prop7.rem2 *)
split; [|interval]. intros k Hk. assert (K : 0 < 1 / INR k <= 1 / 5).
{ split; [apply Rdiv_lt_0_compat; lra|]. unfold Rdiv. rewrite !Rmult_1_l. apply Rinv_le_contravar; lra. }
set (u := 1 / INR k) in *. assert (1 < exp u) by (rewrite <- exp_0; apply exp_increasing; lra).
assert (exp u <= 611 / 500).
{ apply Rle_trans with (exp (1 / 5)); [apply exp_le; lra|]. interval. }
set (E := exp u) in *. apply Rmult_le_reg_r with (4 * E * (E + 1)); [nra|].
replace ((E + - 1) ^ 2 / (4 * E * (E + 1)) * (4 * E * (E + 1))) with ((E - 1) ^ 2) by (field; lra). nra.

(** * gdp.s4.half *)
split; [|split].
- intros x Hx. apply Rle_ge. rewrite <- (ln_exp (x / 2)). apply Moments.ln_le; [apply exp_pos|].
  replace (exp x) with (exp (x / 2) * exp (x / 2)) by (rewrite <- exp_plus; f_equal; field).
  pose proof (Rle_0_sqr (exp (x / 2) - 1)) as S. unfold Rsqr in S. lra.
- rewrite exp_0. replace (1 / 2 + 1 / 2) with 1 by field. apply ln_1.
- auto_derive; rewrite exp_0; [lra|field].

(** * slides.proof.T *)
intros A l P Q f F HP HQ T HF H. pose proof (test_below l Q P F f T).
pose proof (HS_attained l F Q P).
assert (F * expectation l P f <= F * probability l P (likely F Q P))
  by (apply Rmult_le_compat_l; auto). lra.

(** * slides.analogy *)
intros D x y HD Hx. assert (B : - D <= Rabs (y + - 1 * D) + - 1 * Rabs y <= D).
{ unfold Rabs. destruct (Rcase_abs (y + - 1 * D)), (Rcase_abs y); lra. }
set (g := Rabs (y + - 1 * D) + - 1 * Rabs y) in *. split; [|apply Rle_ge];
  apply Rmult_le_reg_r with D; auto; replace (x * g / D * D) with (x * g) by (field; lra); nra.

(** * slides.count_query *)
intros c b H0 H1. replace (c + b + - 1 * c) with b by ring. rewrite Rabs_right; lra.

(** * slides.mnist_113 *)
split; interval.

(** * kov.sec3B.eps_log *)
intros k x s Hk Hx Hs _. rewrite tanh_is_half. pose proof (tanh_half_below x (Rlt_le _ _ Hx)).
set (v := INR k * x ^ 2). assert (V : 0 <= v) by (unfold v; pose proof (pow2_ge_0 x); nra).
set (L := ln (exp 1 + sqrt v / s)). assert (N : 0 <= L).
{ unfold L. rewrite <- ln_1. apply Moments.ln_le; [lra|]. pose proof (exp_ineq1_le 1).
  assert (0 <= sqrt v / s) by (apply Rle_mult_inv_pos; auto; apply sqrt_pos). lra. }
replace (2 * L * INR k * x ^ 2) with (2 * (v * L)) by (unfold v; ring).
rewrite sqrt_mult_alt by lra. assert (sqrt 2 <= 2).
{ rewrite <- (sqrt_square 2) at 2 by lra. apply sqrt_le_1_alt. lra. }
assert (INR k * x * Analysis.tanh_half x <= 2 * v).
{ unfold v. replace (2 * (INR k * x ^ 2)) with (INR k * x * (2 * x)) by ring.
  apply Rmult_le_compat_l; [nra|lra]. }
pose proof (sqrt_pos (v * L)). nra.

(** * kov.sec3B.slack_order *)
intros k x c s Hk Hx Hc Hs -> H. rewrite tanh_is_half.
pose proof (tanh_half_below x (Rlt_le _ _ Hx)). set (v := INR k * x ^ 2) in *.
assert (V : 0 < v) by (unfold v; apply Rmult_lt_0_compat; [lra|apply pow_lt; auto]).
assert (R : 0 < sqrt v) by (apply sqrt_lt_R0; auto).
assert (RR : sqrt v * sqrt v = v) by (apply sqrt_sqrt; lra).
replace (sqrt v / (c * sqrt v)) with (1 / c) by (field; lra).
set (L := ln (exp 1 + 1 / c)). assert (N : 0 <= L).
{ unfold L. rewrite <- ln_1. apply Moments.ln_le; [lra|]. pose proof (exp_ineq1_le 1).
  assert (0 < 1 / c) by (apply Rdiv_lt_0_compat; lra). lra. }
replace (2 * L * INR k * x ^ 2) with (2 * L * v) by (unfold v; ring). rewrite sqrt_mult_alt by lra.
assert (INR k * x * Analysis.tanh_half x <= v / 2).
{ unfold v. replace (INR k * x ^ 2 / 2) with (INR k * x * (x / 2)) by field.
  apply Rmult_le_compat_l; [nra|lra]. }
assert (sqrt v <= 1) by (rewrite <- sqrt_1; apply sqrt_le_1_alt; auto). nra.

(** * kov.sec5.gauss_single *)
intros x d m Hx Hd D1 Hm X4 M. assert (W : 2 <= 2 / d).
{ apply Rmult_le_reg_r with d; auto. replace (2 / d * d) with 2 by (field; lra). lra. }
assert (L2 : 0 < ln 2) by interval. assert (L : ln 2 <= ln (2 / d)) by (apply Moments.ln_le; lra).
set (w := sqrt (2 * ln (2 / d))) in *. assert (W0 : 0 < w) by (apply sqrt_lt_R0; lra).
assert (WW : w * w = 2 * ln (2 / d)) by (apply sqrt_sqrt; lra).
set (y := m / 2 + - 1 * (x / m)). set (z := x / (2 * w) - w).
assert (Y : y <= z).
{ assert (m / 2 <= x / (2 * w)) by (replace (x / (2 * w)) with (x / w / 2) by (field; lra); lra).
  assert (w <= x / m); [|unfold y, z; lra]. apply Rmult_le_reg_r with m; auto.
  replace (x / m * m) with (x / w * w) by (field; lra). rewrite Rmult_comm. apply Rmult_le_compat_r; lra. }
assert (Z : z <= 0).
{ apply Rmult_le_reg_r with (2 * w); [lra|].
  replace (z * (2 * w)) with (x - 2 * (w * w)) by (unfold z; field; lra). lra. }
eapply Rle_trans; [apply delta_below; lra|].
assert (E : exp (- (y * y) / 2) <= exp (- ln (2 / d) + (ln 2 + ln 2))).
{ apply exp_le. assert (z * z = w * w - x + x / (2 * w) * (x / (2 * w))) by (unfold z; field; lra).
  pose proof (Rle_0_sqr (x / (2 * w))). unfold Rsqr in *. nra. }
rewrite !exp_plus, exp_Ropp, !exp_ln in E by lra.
replace (/ (2 / d)) with (d / 2) in E by (field; lra). lra.

(** * kov.sec5.gauss_O *)
intros x d k D v m Hx Hd D1 Hk HD Hv Hm X2 V M. assert (L : 0 < ln (1 / d)) by lra.
set (l := sqrt (ln (1 / d))). assert (L0 : 0 < l) by (apply sqrt_lt_R0; auto).
assert (LL : l * l = ln (1 / d)) by (apply sqrt_sqrt; lra).
assert (K0 : 0 < sqrt (INR k)) by (apply sqrt_lt_R0; lra).
assert (KK : sqrt (INR k) * sqrt (INR k) = INR k) by (apply sqrt_sqrt; lra).
assert (S : sqrt v = 2 * sqrt (INR k) * D * l / x).
{ rewrite V, <- LL, <- KK. replace (4 * (sqrt (INR k) * sqrt (INR k)) * D ^ 2 * (l * l) / x ^ 2)
    with ((2 * sqrt (INR k) * D * l / x) * (2 * sqrt (INR k) * D * l / x)) by (field; lra).
  rewrite KK. apply sqrt_square. apply Rle_mult_inv_pos; auto. repeat apply Rmult_le_pos; lra. }
assert (M2 : m = x / (2 * l)) by (rewrite M, S; field; lra). clear V M S.
set (y := m / 2 + - 1 * (x / m)). assert (Q : y = x / (4 * l) - 2 * l) by (unfold y; rewrite M2; field; lra).
assert (Y : y <= - (3 / 2 * l)).
{ rewrite Q. assert (x / (4 * l) <= l / 2); [|lra]. apply Rmult_le_reg_r with (4 * l); [lra|].
  replace (x / (4 * l) * (4 * l)) with x by (field; lra). lra. }
eapply Rle_trans; [apply delta_below; lra|].
assert (E : exp (- (y * y) / 2) <= exp (- ln (1 / d))) by (apply exp_le; nra).
rewrite exp_Ropp, exp_ln in E by (apply Rdiv_lt_0_compat; lra).
replace (/ (1 / d)) with d in E by (field; lra). lra.

(** * steinke.lem23.delta_gt1 *)
split; [intros d H0 H1; split; lra|intros; lra].

(** * gdp.bassily *)
intros k n m T Hk Hn _ _ -> ->. replace (n ^ 2) with (n * n) by ring.
rewrite sqrt_mult, sqrt_square by nra. field. lra.

(** * steinke.sec5.scale *)
split.
- intros x L Hx HL H. set (s := sqrt L). set (t := sqrt (L + x)).
  assert (S : s * s = L) by (apply sqrt_sqrt; lra).
  assert (T : t * t = L + x) by (apply sqrt_sqrt; lra).
  assert (S0 : 0 < s) by (apply sqrt_lt_R0; lra). assert (T0 : 0 < t) by (apply sqrt_lt_R0; lra).
  assert (X : x ^ 2 = (t - s) ^ 2 * (t + s) ^ 2) by (replace x with (t * t - s * s) by lra; ring).
  replace (t + (- 1) * s) with (t - s) by ring. pose proof (pow2_ge_0 (t - s)).
  split; [apply Rmult_le_reg_r with (8 * L)|apply Rmult_le_reg_r with (4 * L)]; try lra; rewrite X.
  + replace ((t - s) ^ 2 * (t + s) ^ 2 / (8 * L) * (8 * L)) with ((t - s) ^ 2 * (t + s) ^ 2)
      by (field; lra). apply Rmult_le_compat_l; nra.
  + replace ((t - s) ^ 2 * (t + s) ^ 2 / (4 * L) * (4 * L)) with ((t - s) ^ 2 * (t + s) ^ 2)
      by (field; lra). apply Rmult_le_compat_l; nra.
- split; [|replace (1 + 9999) with (100 * 100) by lra; rewrite sqrt_square, sqrt_1 by lra; lra].
  intros k r Hk Hr. replace (k / (2 * r)) with (k / r / 2) by (field; lra).
  rewrite sqrt_div_alt by lra. reflexivity.

(** * steinke.thm25.display *)
split; [|lra]. intros a k n G B Ha Hk Hn HG HB _ H. set (Y := 2 * a ^ 2 * k + k / (3 * n)) in *.
assert (K : 0 < k / (3 * n)) by (apply Rdiv_lt_0_compat; lra).
assert (Y0 : 0 <= Y) by (unfold Y; nra). pose proof (sqrt_sqrt Y Y0) as S. pose proof (sqrt_pos Y).
assert (N : 0 <= B * k) by nra.
pose proof (Rmult_le_compat _ _ _ _ N N H H) as Q.
assert (Z : n * G * sqrt Y * (n * G * sqrt Y) = 2 * n ^ 2 * G ^ 2 * k * (a * a) + n * G ^ 2 * k / 3).
{ transitivity (n * n * G * G * (sqrt Y * sqrt Y)); [ring|]. rewrite S. unfold Y. field. lra. }
apply Rle_ge. rewrite <- (sqrt_square a) by auto. apply sqrt_le_1_alt.
assert (W : 0 < 2 * n ^ 2 * G ^ 2 * k) by (repeat apply Rmult_lt_0_compat; try apply pow_lt; lra).
apply Rmult_le_reg_r with (2 * n ^ 2 * G ^ 2 * k); [exact W|].
replace ((B ^ 2 * k / (2 * n ^ 2 * G ^ 2) + (- 1) * (1 / (6 * n))) * (2 * n ^ 2 * G ^ 2 * k))
  with (B * k * (B * k) - n * G ^ 2 * k / 3) by (field; lra). lra.

(** * steinke.thm38.exponents *)
split.
- intros p s t w y r Hp Hp1 Hs Hs1 Ht Ht1 Hw -> ->. set (l := ln p).
  assert (N : l < 0) by (unfold l; rewrite <- ln_1; apply ln_increasing; lra).
  assert (W : w * (t * ln (1 / p) / (4 * w)) = - (t * l / 4)).
  { unfold Rdiv at 2. rewrite Rmult_1_l, ln_Rinv by auto. fold l. field. lra. }
  rewrite W. replace p with (exp l) at 1 2 by (apply exp_ln; auto).
  replace s with (exp (ln s)) by (apply exp_ln; auto).
  rewrite <- !exp_plus. set (m := ln s + - 1 / 4 * l + l + - (t * l / 4)).
  unfold real_power. destruct (Req_EM_T (exp m) 0) as [Z|_]; [pose proof (exp_pos m); lra|].
  rewrite ln_exp, <- exp_plus. apply exp_le.
  assert (ln s <= 0) by (apply ln_le_0; lra).
  assert (m <= l / 2) by (unfold m; nra).
  assert ((w + (- 1)) * m <= (w + (- 1)) * (l / 2)) by (apply Rmult_le_compat_l; lra). lra.
- intros p r w Hp Hp1 Hr Hr1 Hw H. set (l := ln p) in *.
  assert (N : l < 0) by (unfold l; rewrite <- ln_1; apply ln_increasing; lra).
  replace (1 / r) with (/ r) in H by (field; lra). replace (1 / p) with (/ p) in H by (field; lra).
  rewrite !ln_Rinv in H by auto. fold l in H.
  replace (2 * - ln r / - l) with (2 * ln r / l) in H by (field; lra).
  replace (p ^ 2 * r) with (exp (2 * l + ln r)).
  2:{ rewrite exp_plus, exp_ln by auto. replace (2 * l) with (l + l) by ring.
      rewrite exp_plus. unfold l. rewrite exp_ln by auto. ring. }
  apply exp_le. assert (w * l <= (3 + 2 * ln r / l) * l) by nra.
  replace ((3 + 2 * ln r / l) * l) with (3 * l + 2 * ln r) in * by (field; lra). lra.
