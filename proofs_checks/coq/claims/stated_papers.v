(** Proofs of the typed statements of the newer sources. *)

(** * cks.cor13.order bw.sec4.bayes *)
intros; field; nonzero.

(** * bw.thm2.best *)
assert (S : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
assert (P : 0 < sqrt (2 * PI)) by (apply sqrt_lt_R0; pose proof PI_RGT_0; lra).
split.
- assert (D : is_derive (fun m => Phi (m / (2 * sqrt 2) * sqrt 2)) 0 (1 / (2 * sqrt (2 * PI)))).
  { apply (is_derive_ext (fun m => Phi (m / 2))); [intros; f_equal; field; lra|].
    replace (1 / (2 * sqrt (2 * PI))) with (exp (- (0 / 2 * (0 / 2)) / 2) / sqrt (2 * PI) * (1 / 2)).
    - apply (Phi_chain (fun m => m / 2) 0 (1 / 2)). auto_derive; auto; field.
    - replace (- (0 / 2 * (0 / 2)) / 2) with 0 by field. rewrite exp_0. field. lra. }
  assert (G : forall (F : R -> R) d, is_derive F 0 d -> is_derive (fun m => 2 * F m - 1) 0 (2 * d)).
  { intros F d DF. auto_derive; [eexists; apply DF|]. change (fun x => F x) with F.
    rewrite (is_derive_unique _ _ _ DF). ring. }
  replace (1 / sqrt (2 * PI)) with (2 * (1 / (2 * sqrt (2 * PI)))) by (field; lra).
  exact (G _ _ D).
- interval.

(** * bw.alg1.arguments *)
intros a e D Ha He HD. assert (S : 0 < sqrt (2 * e)) by (apply sqrt_lt_R0; lra).
assert (Q : sqrt (2 * e) * sqrt (2 * e) = 2 * e) by (apply sqrt_sqrt; lra).
assert (H : sqrt (e / 2) = sqrt (2 * e) / 2).
{ apply sqrt_lem_1; nra. }
rewrite H. replace e with (sqrt (2 * e) * sqrt (2 * e) / 2) at 2 6 by lra.
split; field; lra.

(** * bw.alg1.threshold *)
intros e He. cbv beta. rewrite !Rmult_0_r, !Rplus_0_l, sqrt_0.
replace (e * 2) with (2 * e) by ring.
replace ((- 1) * 0) with 0 by ring. rewrite ?Ropp_0, Phi_0. split; ring.

(** * rdp.best_order *)
intros a r L Ha Hr HL.
assert (P : sqrt (r * L) = sqrt r * sqrt L) by (apply sqrt_mult; lra). rewrite P.
assert (R2 : sqrt r * sqrt r = r) by (apply sqrt_sqrt; lra).
assert (L2 : sqrt L * sqrt L = L) by (apply sqrt_sqrt; lra).
rewrite <- R2 at 1 2. rewrite <- L2 at 1. field. lra.

(** * sgm.split *)
intros q s H0 H1 Hs.
replace ((2 * (s ^ 2 * ln (1 / q + (- 1)) + 1 / 2) + (- 1)) / (2 * s ^ 2)) with (ln (1 / q + (- 1)))
  by (field; lra).
rewrite exp_ln; [field; lra|].
replace (1 / q + (- 1)) with ((1 - q) / q) by (field; lra). apply Rdiv_lt_0_compat; lra.

(** * sgm.small.sharp *)
intros u _. pose proof (exp_above_tangent 0 u) as T. rewrite exp_0 in T. lra.

(** * sgm.wbk.thm9.small *)
intros; lra.

(** * bins.beside.all *)
intros x s Hs. unfold Rdiv at 1. rewrite Rinv_1, Rmult_1_r. f_equal. field. lra.

(** * bins.montecarlo *)
intros n p Hn H0 H1.
assert (E : p * (1 + (- 1) * p) / n = (1 + (- 1) * p) / (n * p) * (p * p)) by (field; lra).
assert (0 <= (1 + (- 1) * p) / (n * p)) by (apply Rle_mult_inv_pos; nra).
rewrite E, sqrt_mult by nra. rewrite (sqrt_square p) by lra. field. lra.

(** * rdp.prop1 *)
intros A l B m P Q K L a x y HP HQ HK HL Ha Hx Hy H0 H1. rewrite moment_mean in *.
rewrite !less_one in *. rewrite Rmult_plus_distr_l, exp_plus.
apply moment_joint; auto; [|left; apply exp_pos].
intros b Hb. exact (largest_below _ _ _ H1 b Hb).

(** * rdp.prop9.mono *)
intros. rewrite !less_one. apply moments_rise; auto.

(** * rdp.prop3 *)
intros A l P Q a x L HP HQ Ha Hx HL H. rewrite moment_mean, !less_one in *.
eapply Rle_trans; [apply (divergence_below_moment l P Q (a - 1)); auto; lra|].
apply Rle_trans with (exp ((a - 1) * x) * exp (- ((a - 1) * (x + L / (a - 1))))).
- apply Rmult_le_compat_r; [left; apply exp_pos|exact H].
- rewrite <- exp_plus. apply exp_le. right. field. lra.

(** * rdp.prop5.rr *)
intros p a H0 H1 Ha. f_equal. f_equal. unfold moment, booleans, coin. simpl.
assert (E : forall x y, 0 < x -> 0 < y ->
  x * exp ((a - 1) * ln (x / y)) = exp (a * ln x) * exp ((1 - a) * ln y)).
{ intros x y Hx Hy. unfold Rdiv. rewrite ln_mult, ln_Rinv by (auto; apply Rinv_0_lt_compat; auto).
  rewrite <- (exp_ln x) at 1 by auto. rewrite <- !exp_plus. f_equal. ring. }
rewrite !minus_one. replace (1 - (1 - p)) with p by ring. rewrite !E by lra. unfold real_power.
repeat match goal with |- context [Req_EM_T ?x 0] => destruct (Req_EM_T x 0); [lra|] end. ring.

(** * rdp.bs.prop1.3 cks.cor13 *)
intros A l P Q r L a HP HQ Hr HL Ha -> M. rewrite moment_mean, !less_one in M.
set (t := sqrt (L / r)) in *. assert (T : 0 <= t) by apply sqrt_pos.
assert (L2 : t * t * r = L).
{ unfold t. rewrite sqrt_sqrt; [field; lra|]. apply Rle_mult_inv_pos; lra. }
assert (S : sqrt (r * L) = t * r).
{ rewrite <- L2. replace (r * (t * t * r)) with (t * r * (t * r)) by ring.
  apply sqrt_square. apply Rmult_le_pos; lra. }
rewrite S. replace (1 + t - 1) with t in M by ring.
eapply Rle_trans; [apply (divergence_below_moment l P Q t); auto|].
apply Rle_trans with (exp (t * (1 + t) * r) * exp (- (t * (r + 2 * (t * r))))).
- apply Rmult_le_compat_r; [left; apply exp_pos|exact M].
- rewrite <- exp_plus, <- L2. apply exp_le. right. ring.

(** * bw.thm5 *)
intros A l P Q E _ _ _. rewrite <- HS_attained. ring.

(** * pld.zdw.levy *)
intros A l P Q E _ _ HE. unfold probability, HS. rewrite minus_one, <- sum_scale, <- sum_minus.
apply sum_ext. intros a _. unfold likely. destruct (Rle_dec (1 / E * P a) (Q a)) as [H|H]; simpl.
- rewrite positive_part_of_nonpos; [ring|].
  apply (Rmult_le_compat_l E) in H; [|lra].
  replace (E * (1 / E * P a)) with (P a) in H by (field; lra). lra.
- rewrite positive_part_of_nonneg; [ring|]. apply Rnot_le_lt in H.
  apply (Rmult_lt_compat_l E) in H; [|lra].
  replace (E * (1 / E * P a)) with (P a) in H by (field; lra). lra.

(** * pld.zdw.thm10 *)
intros A l B m C n D k P Q R S V W X Y. intros.
apply tradeoff_order; auto using product_law.
apply dominates_joint; auto; try solve [intros ? _; auto].
- apply tradeoff_order; auto.
- intros ? _. apply tradeoff_order; auto.

(** * pld.zdw.reverse *)
intros A l P Q E HP HQ HE. rewrite (HS_reverse l (1 / E)) by (auto; apply Rdiv_lt_0_compat; lra).
replace (/ (1 / E)) with E by (field; lra). field. lra.

(** * pit.negative *)
intros A l B m P Q V W E HP HQ HV HW HE. assert (0 < 1 / E) by (apply Rdiv_lt_0_compat; lra).
rewrite (HS_reverse l (1 / E)), (HS_reverse m (1 / E)) by auto.
replace (/ (1 / E)) with E by (field; lra). field. lra.

(** * pld.gopi.convex *)
intros A l P Q x y t _ _ _ _ H0 H1. rewrite !minus_one. apply HS_convex. lra.

(** * pld.zdw.phi.rr *)
intros p u H0 H1. unfold mean, loss, booleans, coin. simpl. rewrite !minus_one.
replace (1 - (1 - p)) with p by ring. unfold real_power.
assert (0 < p / (1 - p)) by (apply Rdiv_lt_0_compat; lra).
assert (0 < (1 - p) / p) by (apply Rdiv_lt_0_compat; lra).
repeat match goal with |- context [Req_EM_T ?x 0] => destruct (Req_EM_T x 0); [lra|] end. ring.

(** * mv.best.single *)
intros A l B m P Q V E HP HQ HV _. apply HS_with_same. auto.

(** * mv.basic *)
intros A l B m P Q V W x y c d HP HQ HV HW Hx Hy _ _ _ _ H0 H1. rewrite exp_plus.
apply basic_joint; auto; try (left; apply exp_pos); intros ? _; auto.

(** * mv.mean *)
intros x. unfold mean, loss, booleans, coin. simpl. pose proof (exp_pos x).
rewrite tanh_is_half. unfold Analysis.tanh_half. set (E := exp x) in *.
replace ((1 + - (E / (1 + E))) / (1 + - (1 / (1 + E)))) with (/ E) by (field; lra).
replace ((1 - E / (1 + E)) / (1 - 1 / (1 + E))) with (/ E) by (field; lra).
replace (E / (1 + E) / (1 / (1 + E))) with E by (field; lra).
rewrite ln_Rinv by auto. unfold E. rewrite ln_exp. field. unfold E in *. lra.

(** * mv.variance *)
intros x. unfold mean, loss, booleans, coin. simpl. pose proof (exp_pos (x / 2)) as H.
unfold cosh. rewrite exp_Ropp. set (h := exp (x / 2)) in *.
assert (X : exp x = h * h) by (unfold h; rewrite <- exp_plus; f_equal; field).
replace ((1 - exp x / (1 + exp x)) / (1 - 1 / (1 + exp x))) with (/ exp x) by (rewrite X; field; nra).
replace (exp x / (1 + exp x) / (1 / (1 + exp x))) with (exp x) by (rewrite X; field; nra).
rewrite ln_Rinv by apply exp_pos. rewrite ln_exp, X. field. split; nra.

(** * mv.monotone.eps *)
intros E F G HE HF HG H.
assert (D0 : 0 <= 0 <= 1) by lra.
assert (L0 : law letters (response0 E 0)) by (apply response0_law; lra).
assert (L1 : law letters (response1 E 0)) by (apply response1_law; lra).
apply (response_dominates letters (response0 E 0) (response1 E 0) F 0); auto; try lra.
- rewrite response_HS, !positive_part_of_nonpos by nra. lra.
- rewrite HS_mirror, response_HS, !positive_part_of_nonpos by nra. lra.

(** * pit.remove.one *)
intros A l P Q q E HP HQ H0 H1 HE. rewrite less_one. apply HS_remove; lra.

(** * pit.add.one *)
intros A l P Q q E HP HQ H0 H1 HE H. rewrite !minus_one in *. apply HS_add; lra.

(** * pit.add.bounded *)
intros A l P Q q HP HQ H0 H1. rewrite minus_one.
assert (0 < 1 / (1 - q)) by (apply Rdiv_lt_0_compat; lra).
rewrite HS_add_above; auto; try lra. replace (1 / (1 - q) * (1 - q)) with 1 by (field; lra). lra.

(** * pit.self.total *)
intros A l P Q q k HP HQ H0 H1 _.
assert (M : law (words l k) (power (mixed q P Q)))
  by (apply (words_law l (fun _ => mixed q P Q) k); intros ?; apply mixed_law; auto; lra).
assert (N : law (words l k) (power Q)) by (apply (words_law l (fun _ => Q) k); intros ?; auto).
rewrite <- !total_variation_HS by auto. apply total_variation_sym.

(** * pit.replace.zero *)
intros A l P Q V q HP HQ HV H0 H1. rewrite total_variation_HS by auto. unfold HS.
rewrite <- sum_scale. apply sum_ext. intros a _. rewrite <- positive_part_scale by lra.
f_equal. unfold mixed. ring.

(** * bins.cube.lower *)
intros A l P Q S E _ _ _. pose proof (HS_above l E P Q S). lra.

(** * bins.remove *)
intros A l P Q E HP HQ _. unfold mean, HS.
transitivity (sum l (fun a => P a - E * Q a + Q a * positive_part (E - P a / Q a))).
- apply sum_ext. intros a Ha. assert (0 < Q a) by (apply HQ; auto).
  rewrite <- positive_part_scale by lra.
  replace (Q a * (E - P a / Q a)) with (- (P a - E * Q a)) by (field; lra).
  rewrite positive_part_flip. ring.
- rewrite sum_plus, sum_minus, sum_scale. pose proof (positive_law_law l P HP) as [_ ->].
  pose proof (positive_law_law l Q HQ) as [_ ->]. rewrite minus_one. f_equal; [ring|].
  apply sum_ext. intros a Ha. unfold positive_part. rewrite minus_one. f_equal. f_equal. f_equal.
  replace (- 1 * loss Q P a) with (loss P Q a) by (rewrite (loss_swap l P Q HP HQ a Ha); ring).
  symmetry. apply (exp_loss l); auto.

(** * bins.add *)
intros A l P Q E HP HQ HE. unfold mean, HS. rewrite <- sum_scale. apply sum_ext. intros a Ha.
assert (0 < Q a) by (apply HQ; auto).
replace (exp (- 1 * loss Q P a)) with (P a / Q a).
- fold (positive_part (1 / E + - 1 * (P a / Q a))).
  rewrite <- Rmult_assoc, <- positive_part_scale by nra. f_equal. field. lra.
- replace (- 1 * loss Q P a) with (loss P Q a) by (rewrite (loss_swap l P Q HP HQ a Ha); ring).
  symmetry. apply (exp_loss l); auto.

(** * pld.gopi.tails *)
intros A l P Q L x HP HQ Hx. rewrite !minus_one. replace (- 1 * x) with (- x) by ring.
assert (E : exp (- x) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
apply Rmult_le_reg_r with (1 - exp (- x)); [lra|].
replace (HS l (exp (L - x)) P Q / (1 - exp (- x)) * (1 - exp (- x))) with (HS l (exp (L - x)) P Q)
  by (field; lra).
eapply Rle_trans; [|apply (HS_above l _ P Q (likely (exp L) P Q))].
replace (L - x) with (L + - x) by ring. rewrite exp_plus.
assert (exp L * probability l Q (likely (exp L) P Q) <= probability l P (likely (exp L) P Q)).
{ pose proof (HS_attained l (exp L) P Q). pose proof (HS_nonneg l (exp L) P Q). lra. }
pose proof (exp_pos (- x)). nra.

(** * pld.gopi.lem5.shift *)
intros A l P Q x h HP HQ. rewrite minus_one, HS_mean by auto. apply mean_ext; auto.
intros z. unfold positive_part. f_equal. rewrite !minus_one. f_equal. f_equal. ring.

(** * sgm.small.factor *)
intros q u Hq0 Hq1 H0 H1. assert (B : exp u - 1 <= 26 / 25 * u).
{ pose proof (exp_chord (1 / 16) 0 (16 * u)) as C. rewrite exp_0 in C.
  replace (16 * u * (1 / 16) + (1 - 16 * u) * 0) with u in C by field.
  assert (E : exp (1 / 16) <= 1 + 26 / 25 / 16) by interval.
  assert (16 * u * exp (1 / 16) <= 16 * u * (1 + 26 / 25 / 16)) by (apply Rmult_le_compat_l; lra). lra. }
pose proof (exp_at_least_1 u H0). rewrite less_one.
assert (S : 0 <= q ^ 2) by apply pow2_ge_0. assert (0 <= q ^ 2 * (exp u - 1)) by nra.
pose proof (ln_below (1 + q ^ 2 * (exp u - 1))). nra.

(** * sgm.wbk.ternary *)
intros A l P Q HP HQ. rewrite !moment_2 by auto. unfold mean.
transitivity (sum l (fun a => P a * P a / Q a) + sum l (fun a => Q a * Q a / P a) - (sum l P + sum l Q)).
- destruct HP as [_ ->], HQ as [_ ->]. ring.
- rewrite <- !sum_plus, <- sum_minus. apply sum_ext. intros a Ha.
  assert (0 < P a) by (apply HP; auto). assert (0 < Q a) by (apply HQ; auto).
  replace (- 1 * loss P Q a) with (- loss P Q a) by ring.
  rewrite exp_Ropp, (exp_loss l) by auto. field. lra.

(** * sgm.monotone.q *)
intros A l P Q p q HP HQ H0 H1 H2 H3 H. rewrite !moment_2_mixed by (auto; lra).
assert (M : 1 <= moment l 2 P Q).
{ rewrite moment_mean. apply moment_at_least_1; auto. lra. }
assert (p ^ 2 <= q ^ 2) by (apply pow_incr; lra).
apply Rplus_le_compat_l. apply Rmult_le_compat_r; lra.

(** * rdp.cor4 *)
intros A l P Q W a HP HQ HW Ha. pose proof (moment_between l P Q W a HP HQ HW) as C.
assert (X : 0 < moment l a P Q) by (apply (mean_exp_pos l P Q HP (a - 1))).
assert (Y : 0 < moment l (2 * a) P W) by (apply (mean_exp_pos l P W HP (2 * a - 1))).
assert (Z : 0 < moment l (2 * a - 1) W Q) by (apply (mean_exp_pos l W Q HW (2 * a - 1 - 1))).
apply Moments.ln_le in C; [|apply pow_lt; auto]. simpl pow in C.
rewrite Rmult_1_r, !ln_mult in C by auto. rewrite !less_one.
replace (a + - (1 / 2)) with (a - 1 / 2) by ring.
replace (2 * a + - 2) with (2 * (a - 1)) by ring.
apply Rmult_le_reg_r with (2 * (a - 1)); [lra|].
replace (ln (moment l a P Q) / (a - 1) * (2 * (a - 1))) with (2 * ln (moment l a P Q)) by (field; lra).
replace (((a - 1 / 2) / (a - 1) * (ln (moment l (2 * a) P W) / (2 * a - 1)) +
   ln (moment l (2 * a - 1) W Q) / (2 * (a - 1))) * (2 * (a - 1)))
  with (ln (moment l (2 * a) P W) + ln (moment l (2 * a - 1) W Q)) by (field; lra). lra.

(** * sgm.convex.q *)
intros A l P Q p q t HP HQ H0 H1 H2 H3 H4 H5. rewrite !minus_one.
assert (0 <= t * p) by (apply Rmult_le_pos; lra). assert (0 <= (1 - t) * q) by (apply Rmult_le_pos; lra).
assert (t * p + (1 - t) * q <= 1) by nra. rewrite !moment_2_mixed by (auto; lra).
assert (M : 1 <= moment l 2 P Q).
{ rewrite moment_mean. apply moment_at_least_1; auto. lra. }
assert (G : 0 <= t * (1 - t) * ((p - q) * (p - q))).
{ apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply Rle_0_sqr]. }
assert ((t * p + (1 - t) * q) ^ 2 <= t * p ^ 2 + (1 - t) * q ^ 2) by nra. nra.

(** * bw.fig1.ratio bw.thm1.beyond *)
unfold Phi, bell. do 2 (match goal with |- context [RInt ?f 0 ?b] =>
  integral_intro (RInt f 0 b) with (i_prec 110, i_width (-85), i_degree 20, i_fuel 1000) as bound;
  revert bound; generalize (RInt f 0 b) end). intros. interval with (i_prec 110).

(** * bw.thm1.classical *)
intros x d s Hx X1 Hd D1 Hs H. assert (C : 1 / 2 <= 2 * ln (5 / 2)) by interval.
assert (W : 5 / 2 <= 5 / (4 * d)).
{ apply Rmult_le_reg_r with (4 * d); [lra|]. replace (5 / (4 * d) * (4 * d)) with 5 by (field; lra). lra. }
assert (L : ln (5 / 2) <= ln (5 / (4 * d))) by (apply Moments.ln_le; lra).
set (y := x / (2 * s) + - 1 * s). assert (Q : y * y = s ^ 2 - x + x / (2 * s) * (x / (2 * s))) by (unfold y; field; lra).
assert (Y : y <= 0).
{ apply Rmult_le_reg_r with (2 * s); [lra|]. replace (y * (2 * s)) with (x - 2 * s ^ 2) by (unfold y; field; lra). lra. }
eapply Rle_trans; [apply delta_below; exact Y|].
assert (E : exp (- (y * y) / 2) <= exp (- ln (5 / (4 * d)) + 1 / 2)).
{ apply exp_le. pose proof (Rle_0_sqr (x / (2 * s))). unfold Rsqr in *. lra. }
rewrite exp_plus, exp_Ropp, exp_ln in E by lra.
replace (/ (5 / (4 * d))) with (4 * d / 5) in E by (field; lra).
assert (B : exp (1 / 2) <= 5 / 2) by interval.
assert (4 * d / 5 * exp (1 / 2) <= 4 * d / 5 * (5 / 2)) by (apply Rmult_le_compat_l; lra). lra.
