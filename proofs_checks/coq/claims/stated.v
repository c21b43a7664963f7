(** * kov.app.gauss_chain *)
intros; positive; field; nonzero.

(** * kov.app.gauss_mgf *)
intros; positive; field; nonzero.

(** * kov.app.geom_ratio *)
intros E n H _.
replace ((- 1) * INR n * ln E) with (ln E + ((- 1) * INR n + (- 1)) * ln E) by ring.
rewrite exp_plus, exp_ln by lra. field. lra.

(** * kov.app.tv_identity *)
intros; positive; field; nonzero.

(** * kov.eq2 *)
intros; positive; field; nonzero.

(** * kov.jl.cut_identity *)
intros; positive; field; nonzero.

(** * kov.jl.step2 *)
intros r L d x y c Hr HL Hd Hx _ _ -> ->. assert (0 < 4 * r * L) by nra.
assert (0 < sqrt (4 * r * L)) by (apply sqrt_lt_R0; auto).
replace (2 / (d / (2 * r))) with (4 * r / d) by (field; lra).
replace (64 * r * L) with (4 * 4 * (4 * r * L)) by ring.
rewrite (sqrt_mult_alt (4 * 4) (4 * r * L)) by lra. rewrite (sqrt_square 4) by lra. field. lra.

(** * kov.jl.w_bound *)
intros r L d x y c Hr HL Hd Hx _ _ -> ->. assert (0 < 4 * r * L) by nra.
assert (0 < sqrt (4 * r * L)) by (apply sqrt_lt_R0; auto).
replace (2 / (d / (2 * r))) with (4 * r / d) by (field; lra). field. lra.

(** * kov.sec3B.delta_strict *)
intros k d s _ H0 H1 H2 H3. pose proof (bernoulli (- d) k) as B.
assert (D : -1 <= - d) by lra. specialize (B D).
replace (1 + (- 1) * d) with (1 + - d) by ring. assert (U : 0 <= 1 + - d <= 1) by lra.
pose proof (power_bounds (1 + - d) k U). nra.

(** * kov.sec5.same_variance *)
intros k L x D y Hk HL Hx HD _ ->.
assert (P : 0 < k * L) by nra. assert (S : sqrt (k * L) * sqrt (k * L) = k * L) by (apply sqrt_sqrt; lra).
assert (S0 : 0 < sqrt (k * L)) by (apply sqrt_lt_R0; auto).
replace ((x / (2 * sqrt (k * L))) ^ 2) with (x ^ 2 / (4 * (sqrt (k * L) * sqrt (k * L))))
  by (field; lra). rewrite S. field. lra.

(** * kov.sec6B *)
intros; repeat split; lra.

(** * kov.sec6D.chain_drop *)
intros l Hl. assert (D : 0 < l / (l + 1)) by (apply Rdiv_lt_0_compat; lra).
pose proof (ln_below _ D).
assert (l / (l + 1) <= 1).
{ apply Rmult_le_reg_r with (l + 1); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
nra.

(** * kov.sec6D.hoeffding *)
intros p x H0 H1. pose proof (hoeffding p x (conj H0 H1)) as B. unfold two_points in B.
replace ((- 1) * x) with (- x) by ring. replace (1 + (- 1) * p) with (1 - p) by ring.
replace ((2 * p + (- 1)) * x + x ^ 2 / 2) with ((2 * p - 1) * x + x * x / 2) by field. exact B.

(** * kov.sec6D.lambda *)
intros; positive; field; nonzero.

(** * kov.sec6D.square *)
intros; positive; field; nonzero.

(** * kov.thm2.1 *)
intros; repeat split; lra.

(** * gdp.alexnet *)
intros; repeat split; lra.

(** * gdp.cp.p3 *)
intros; repeat split; lra.

(** * gdp.disc.avella.noise *)
intros B K n m s HB HK Hn Hm Hs ->. assert (0 < sqrt K) by (apply sqrt_lt_R0; auto).
field. repeat split; lra.

(** * gdp.epoch *)
intros T m n HT Hm Hn.
replace ((m * sqrt T / n) ^ 2) with (m ^ 2 * (sqrt T * sqrt T) / n ^ 2) by (field; lra).
rewrite sqrt_sqrt by lra. field. lra.

(** * gdp.sqrt50 *)
repeat split; interval.

(** * steinke.fn15 *)
intros x k Hx Hk. pose proof (steinke_fn15 k x Hk Hx) as B.
replace (exp x + (- 1)) with (exp x - 1) by ring.
replace (k * x ^ 2 / 2) with (k * (x * x) / 2) by field. exact B.

(** * steinke.fn8 *)
intros; positive; field; nonzero.

(** * steinke.lem12 *)
intros t r. f_equal. field.

(** * steinke.lem36 *)
intros p x H0 H1 Hx. pose proof (steinke_lem36 p x (conj H0 H1) Hx) as B.
replace (1 + (- 1) * p) with (1 - p) by ring. exact B.

(** * steinke.lem37 *)
intros p x v H0 H1 Hx Hv. pose proof (steinke_lem37 p x v (conj H0 H1) Hx Hv) as B.
replace (1 + (- 1) * p) with (1 - p) by ring. unfold real_power.
destruct (Req_EM_T (1 - p + p * x) 0) as [Z|_]; [exfalso; nra|]. exact B.

(** * steinke.prop3 *)
intros; repeat split; lra.

(** * steinke.prop3.paren *)
intros; positive; field; nonzero.

(** * steinke.prop42.lines *)
intros; positive; field; nonzero.

(** * steinke.rem15.a *)
intros r L Hr HL. assert (N : 0 <= r * L) by (apply Rmult_le_pos; lra).
replace ((r + 2 * sqrt (r * L) + (- 1) * r) ^ 2) with (4 * (sqrt (r * L) * sqrt (r * L))) by ring.
rewrite sqrt_sqrt by auto. field. lra.

(** * steinke.rem15.b *)
intros x L Hx HL. pose proof (steinke_rem15_b x L (Rlt_le _ _ Hx) HL) as B.
replace ((sqrt (L + x) + (- 1) * sqrt L) ^ 2)
  with ((sqrt (L + x) - sqrt L) * (sqrt (L + x) - sqrt L)) by ring.
replace (x ^ 2) with (x * x) by ring. exact B.

(** * steinke.sec4.mgf *)
intros t x k. f_equal. field.

(** * steinke.sec63.eps1 *)
intros p x H0 H1 H2 H3. pose proof (steinke_sec63_eps1 p x (conj H0 H1) (conj H2 H3)) as B.
replace (exp x + (- 1)) with (exp x - 1) by ring. exact B.

(** * steinke.sec67.5 *)
intros a p d s r y Ha Hp Hd Hs -> H. eapply Rle_trans; [exact H|]. right. field. lra.

(** * steinke.thm22.t *)
intros S L HS HL. assert (N : 0 < 2 * L * S) by nra. set (r := sqrt (2 * L * S)).
assert (RR : r * r = 2 * L * S) by (apply sqrt_sqrt; lra).
assert (R0 : 0 <= r) by apply sqrt_pos.
assert (E : sqrt (2 * L / S) = r / S).
{ apply sqrt_lem_1.
  - apply Rlt_le, Rdiv_lt_0_compat; lra.
  - apply Rmult_le_pos; [auto|]. apply Rlt_le, Rinv_0_lt_compat. auto.
  - replace (r / S * (r / S)) with (r * r / (S * S)) by (field; lra). rewrite RR. field. lra. }
rewrite E. replace (r / S * (r / S + 1) * S / 2 + (- 1) * (r / S * (S / 2 + r)))
  with (- (r * r) / (2 * S)) by (field; lra). rewrite RR. field. lra.

(** * steinke.thm22.unionprod *)
intros; repeat split; nra.

(** * steinke.thm25.const1 *)
intros; repeat split; nra.

(** * steinke.thm25.const2 *)
intros k n G Hk Hn HG H. apply Rle_ge. assert (0 < G ^ 2) by nra. assert (0 < n ^ 2) by nra.
assert (0 < n ^ 2 * G ^ 2) by nra.
apply Rmult_le_reg_r with (200 * n ^ 2 * G ^ 2); [lra|].
replace (k / (200 * n ^ 2 * G ^ 2) * (200 * n ^ 2 * G ^ 2)) with k by (field; lra).
replace (1 / n * (200 * n ^ 2 * G ^ 2)) with (200 * G ^ 2 * n) by (field; lra). lra.

(** * steinke.thm25.const3 *)
intros; repeat split; lra.

(** * steinke.thm29.lambda *)
intros; positive; field; nonzero.

(** * steinke.thm29.small *)
intros x H0 H1. pose proof (exp_below_square x (conj H0 H1)). split; nra.

(** * slides.e71 *)
repeat split; interval.

(** * slides.epsdelta_two_sided *)
intros p q E d _ _ _ _ HE _ _ H. apply Rmult_le_reg_r with E; [lra|].
unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.

(** * slides.proof.L *)
intros p q r s Hp Hq Hr Hs. rewrite <- ln_mult by (apply Rdiv_lt_0_compat; auto).
f_equal. field. lra.

(** * kov.sec6C.abel kov.sec6C.convex *)
intros p m n _.
assert (A : forall k f, sum (seq 0 (S k)) f = sum (seq 0 k) f + f k)
  by (intros; rewrite seq_S, sum_app; simpl; ring).
induction n as [|n IH]; [simpl; ring|]. rewrite (A (S n)), IH, (A (S n) (fun j => m j)).
rewrite (A n (fun i => (p i + - 1 * p (i + 1)%nat) * sum (seq 0 (S i)) (fun j => m j))).
rewrite Nat.add_1_r. ring.

(** * kov.sec6D.rhs *)
intros a t L Ha H0 H1 HL. set (e := exp 1). assert (E1 : 2 < e) by (unfold e; interval).
set (s := sqrt (2 * a ^ 2 * L)). assert (S : s = a * sqrt (2 * L)).
{ unfold s. replace (2 * a ^ 2 * L) with (a * a * (2 * L)) by ring.
  rewrite sqrt_mult_alt, sqrt_square by nra. auto. }
assert (R1 : 1 <= sqrt (2 * L)) by (rewrite <- sqrt_1; apply sqrt_le_1_alt; lra).
set (r := sqrt (2 * L)) in *. clearbody s. subst s.
replace (1 / (1 + a * r / a ^ 2) * (1 / (e + a / t))) with (a * t / ((a + r) * (e * t + a)))
  by (field; repeat split; nra).
assert (D : 0 < (a + r) * (e * t + a)) by (apply Rmult_lt_0_compat; nra).
apply Rmult_lt_reg_r with ((a + r) * (e * t + a)); auto.
replace (a * t / ((a + r) * (e * t + a)) * ((a + r) * (e * t + a))) with (a * t)
  by (field; repeat split; nra).
assert (0 < e * t) by nra. assert (a < (a + r) * (e * t + a)) by nra. nra.

(** * kov.thm3.4.simplified *)
intros k x s Hk Hx H0 H1.
assert (K : INR k * (x * tanh (x / 2)) <= INR k * x ^ 2).
{ rewrite tanh_is_half. pose proof (tanh_half_below x). apply Rmult_le_compat_l; [lra|]. nra. }
apply Rle_min_compat_l. apply Rmin_glb.
- eapply Rle_trans; [apply Rmin_l|]. lra.
- eapply Rle_trans; [apply Rmin_r|]. lra.

(** * steinke.sec31.gauss *)
intros m n D s HD Hs H. unfold Rdiv. apply Rmult_le_compat_r.
- left. apply Rinv_0_lt_compat. assert (0 < s ^ 2) by (apply pow_lt; auto). lra.
- apply Rabs_le_between in H. nra.

(** * steinke.thm35.proofstep *)
intros p x a H0 H1 Hx Ha. pose proof (steinke_thm35_proofstep a p x Ha (conj H0 H1) Hx) as B.
replace (1 + - 1 * p) with (1 - p) by ring. replace (a + - 2) with (a - 2) by ring. exact B.

(** * kov.sec2.accept_prob *)
intros p m n _.
assert (A : forall k f, sum (seq 0 (S k)) f = sum (seq 0 k) f + f k)
  by (intros; rewrite seq_S, sum_app; simpl; ring).
induction n as [|n IH]; [simpl; ring|]. rewrite (A (S n)), IH, !(A (S n) (fun j => m j)).
rewrite (A n (fun i => (p i + - 1 * p (i + 1)%nat) * sum (seq 0 (S i)) (fun j => m j))).
rewrite Nat.add_1_r. ring.

(** * slides.nine_queries *)
repeat split; lra.
