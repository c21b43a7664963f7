(** Proofs of typed statements about laws, kernels and trade-off functions; claims of one form share
    a proof. *)

(** * kov.def1.1 *)
intros A l P Q S f E d HP HQ T HE _ _ H. split.
- pose proof (HS_above l E P Q S). lra.
- pose proof (test_below l P Q E f T). lra.

(** * kov.rem2.2 *)
intros A l P Q f HP HQ T. pose proof (expectation_bounds l P f HP T) as H.
pose proof (tradeoff_below l P Q HQ _ f (proj1 H) T (Rle_refl _)). lra.

(** * kov.cor2.3 gdp.prop3 slides.epsdelta_equiv *)
split; intros A l P Q E d HP HQ HE H0 H1.
- intros K0 K1. apply (approximate_iff E d HE (conj H0 H1) l P Q HP HQ). auto.
- intros K. apply (approximate_iff E d HE (conj H0 H1) l P Q HP HQ). exact K.

(** * kov.thm2.4 gdp.lem1 slides.postprocessing *)
intros A l B m P Q K HP HQ HK. apply tradeoff_kernel; auto.

(** * kov.sec2.converse_surprising *)
intros A l B m P Q K E HP HQ HK _. apply HS_kernel; auto.

(** * kov.sec3.no_slack_tight *)
intros E k F HE _ HF H. rewrite equal_steps by lra. rewrite Rminus_0_r, pow1.
assert (N : 0 < (1 + E) ^ k) by (apply pow_lt; lra).
set (S := sum _ _). assert (G : 0 < S).
{ apply Rlt_le_trans with (INR (choose k k) * Rmax 0 (E ^ k - F * E ^ (k - k))).
  - rewrite Nat.sub_diag, choose_C, C_all, Rmax_right by (simpl; lra || lia). simpl. lra.
  - apply (sum_above _ (fun l => INR (choose k l) * Rmax 0 (E ^ l - F * E ^ (k - l)))).
    + intros b _. apply Rmult_le_pos; [apply pos_INR|apply Rmax_l].
    + apply in_seq. lia. }
assert (0 < S / (1 + E) ^ k) by (apply Rdiv_lt_0_compat; auto). lra.

(** * kov.thm3.3.tight kov.sec4.delta_i_ref kov.fig2.caption *)
intros E d k i HE H0 H1 _ _ H. apply twice_below in H. rewrite branch_power by auto.
rewrite equal_steps_branch by auto. rewrite <- branch_sum by auto. rewrite !(minus_one _ d).
unfold Rdiv. ring.

(** * kov.sec4.d_kfold *)
intros E d k i HE H0 H1 _ _ H. apply twice_below in H. rewrite branch_power by auto.
rewrite equal_steps_branch by auto. rewrite <- branch_sum by auto. rewrite !(minus_one _ d).
unfold Rdiv. ring.

(** * kov.eq9_10 *)
intros E d HE H0 H1. rewrite HS_mirror, response_HS, !positive_part_of_nonpos by nra.
split; ring.

(** * kov.sec4.E_single *)
intros E d HE H0 H1. rewrite response_HS, !positive_part_of_nonpos by nra. ring.

(** * kov.sec6E.pmfs *)
intros E d HE H0 H1. rewrite response_HS, !positive_part_of_nonpos by nra.
split; [field; lra|ring].

(** * kov.sec4.E_enough *)
intros E d F a HE H0 H1 HF Ha Hb. rewrite <- approximate_tradeoff by auto.
assert (L1 : law letters (response1 E d)) by (apply response1_law; lra).
pose proof (tradeoff_above_line letters (response0 E d) (response1 E d) L1 a F). lra.

(** * kov.eq11 *)
intros A l P Q E a HP HQ HE Ha Hb. pose proof (tradeoff_above_line l P Q HQ a E). lra.

(** * kov.eq15 *)
intros A l P Q E a k HP HQ HE Ha Hb _.
pose proof (tradeoff_above_line (words l k) (power P) (power Q)
  (words_law l _ k (fun _ => HQ)) a E). lra.

(** * kov.sec4.hockey *)
intros A l P Q S F _ _ _. pose proof (HS_above l F P Q S). pose proof (HS_attained l F P Q). lra.

(** * kov.sec6D.setB *)
intros A l P Q S F k _ _ _ _. pose proof (HS_above (words l k) F (power P) (power Q) S).
pose proof (HS_attained (words l k) F (power P) (power Q)). lra.

(** * kov.sec6D.B0B1 *)
intros E d k HE H0 H1 _. pose proof (equal_steps_branch E d k 0 HE (conj H0 H1)) as H.
change (2 * 0)%nat with 0%nat in H. rewrite Nat.sub_0_r in H. rewrite H by lia. simpl sum. rewrite !minus_one.
field. apply pow_nonzero. lra.

(** * kov.eq16 *)
intros E d F k HE H0 H1 HF _. rewrite !equal_steps by lra. rewrite !(minus_one _ d), Rminus_0_r, pow1.
ring.

(** * kov.remA.1a *)
intros A l P Q E d F c HP HQ HE H0 H1 HF Hc0 Hc1 K0 K1 C H.
assert (V : HS letters F (response0 E d) (response1 E d) <= c).
{ destruct (Rle_dec E F) as [L|L].
  { rewrite response_HS, !positive_part_of_nonpos by nra. lra. }
  rewrite response_HS, positive_part_of_nonneg, positive_part_of_nonpos by nra.
  replace (d + (1 - d) / (1 + E) * (E - F + 0)) with (1 - (1 - d) / (1 + E) * (1 + F))
    by (field; lra).
  assert ((1 - c) / (1 + F) * (1 + F) = 1 - c) by (field; lra).
  replace (1 + - 1 * d) with (1 - d) in H by ring. replace (1 + - 1 * c) with (1 - c) in H by ring.
  nra. }
split; (eapply Rle_trans; [|exact V]).
- apply (response_dominates l P Q E d); auto; lra.
- apply (response_dominates l Q P E d); auto; lra.

(** * kov.remA.1b *)
intros A l P Q E d HP HQ HE H0 H1 K0 K1. rewrite total_variation_HS by auto.
eapply Rle_trans; [apply (response_dominates l P Q E d); auto; lra|].
rewrite response_HS, positive_part_of_nonneg, positive_part_of_nonpos by lra.
apply Req_le. field. lra.

(** * kov.intro.strict_improvement *)
split.
- intros k x L Hk Hx HL. rewrite tanh_is_half. apply Rplus_lt_compat_r.
  pose proof (tanh_half_below x). pose proof (exp_ineq1_le x).
  apply Rmult_lt_compat_l; [apply Rmult_lt_0_compat|]; lra.
- intros k d s _ H0 H1 H2 H3. pose proof (bernoulli (- d) k) as B.
  assert (D : -1 <= - d) by lra. specialize (B D).
  replace (1 + (- 1) * d) with (1 + - d) by ring. assert (U : 0 <= 1 + - d <= 1) by lra.
  pose proof (power_bounds (1 + - d) k U). nra.

(** * kov.eq17.pointwise_inequality *)
split.
- intros y t [Hy|<-] Ht.
  + pose proof (conversion_pointwise y t Ht Hy) as H.
    replace ((- 1) * y) with (- y) by ring.
    replace (t * y + t * ln t + (- 1) * ((t + 1) * ln (t + 1)))
      with (t * y + t * ln t - (t + 1) * ln (t + 1)) by ring. lra.
  + rewrite Rmult_0_r, exp_0. left. replace (1 + - 1 * 1) with 0 by ring. apply exp_pos.
- intros y _. pose proof (exp_pos ((- 1) * y)). lra.

(** * gdp.s1.power *)
intros A l P Q f a E d HP HQ T Ha Hb HE _ _ H S. pose proof (test_below l Q P E f T).
assert (E * expectation l P f <= E * a) by (apply Rmult_le_compat_l; lra). lra.

(** * gdp.s1.basiccomp *)
intros E d F c HE H0 H1 HF H2 H3 H.
assert (HF1 : 1 <= E * F) by nra.
apply (approximate_iff (E * F) (d + c) HF1); try (split; lra);
  try (apply product_law; (apply response0_law || apply response1_law); lra).
assert (V : forall E d, 1 <= E -> 0 <= d <= 1 ->
  HS letters E (response0 E d) (response1 E d) <= d /\
  HS letters E (response1 E d) (response0 E d) <= d).
{ intros. rewrite HS_mirror, response_HS, !positive_part_of_nonpos by nra. lra. }
destruct (V E d) as [V0 V1]; auto. destruct (V F c) as [W0 W1]; auto.
split; (apply basic_joint; auto; try lra;
  try (intros a _); (apply response0_law || apply response1_law); lra).

(** * gdp.tv *)
intros A l P Q f HP HQ T. pose proof (test_below l Q P 1 f T).
rewrite total_variation_sym, total_variation_HS by auto.
pose proof (HS_attained l 1 Q P) as D. rewrite (probability_not l Q _ HQ) in D. split; lra.

(** * gdp.idmax *)
intros A l P Q a HP HQ Ha Hb. pose proof (tradeoff_below_identity l P Q HP HQ a). lra.

(** * gdp.eq3 *)
intros A l P Q HP HQ. split; intros a Ha.
- apply inverse_tradeoff; auto.
- rewrite (inverse_ext _ (tradeoff l Q P)); [apply inverse_tradeoff; auto|].
  intros. apply inverse_tradeoff; auto.

(** * gdp.eq4 *)
intros E d HE H0 H1. assert (L0 : law letters (response0 E d)) by (apply response0_law; lra).
assert (L1 : law letters (response1 E d)) by (apply response1_law; lra). repeat split; intros a Ha.
- rewrite (inverse_ext _ (tradeoff letters (response0 E d) (response1 E d))).
  + rewrite inverse_tradeoff, <- approximate_tradeoff by auto.
    apply tradeoff_same; auto. intros g _. symmetry. apply HS_mirror.
  + intros b Hb. symmetry. apply approximate_tradeoff; auto.
- rewrite <- approximate_tradeoff by auto.
  pose proof (tradeoff_below_identity letters _ _ L0 L1 a Ha).
  unfold approximate. rewrite (Rmax_right 0).
  + eapply Rle_trans; [|apply Rmax_l]. lra.
  + eapply Rle_trans; [|apply Rmax_l]. lra.
- apply approximate_tradeoff; auto.

(** * gdp.fig3L slides.fig_f_eps_delta slides.four_segments *)
assert (V : forall E d a, 1 <= E -> 0 <= d <= 1 ->
  (a <= (1 - d) / (1 + E) -> approximate E d a = 1 - d - E * a) /\
  ((1 - d) / (1 + E) <= a <= 1 - d -> approximate E d a = (1 - d - a) / E) /\
  (1 - d <= a -> 0 <= a -> approximate E d a = 0)).
{ intros E d a HE Hd. set (c := (1 - d) / (1 + E)).
  assert (C : c * (1 + E) = 1 - d) by (unfold c; field; lra).
  assert (C0 : 0 <= c) by (unfold c; apply fraction_nonneg; lra).
  assert (W : E * ((1 - d - a) / E) = 1 - d - a) by (field; lra).
  unfold approximate. set (q := (1 - d - a) / E) in *. clearbody c q.
  assert (G : E * (1 - d - E * a) - E * q = (E - 1) * (E + 1) * (c - a)) by (rewrite W, <- C; ring).
  assert (F : 0 <= (E - 1) * (E + 1)) by (apply Rmult_le_pos; lra). repeat split; intros H.
  - assert (0 <= (E - 1) * (E + 1) * (c - a)) by (apply Rmult_le_pos; lra).
    assert (q <= 1 - d - E * a) by (apply Rmult_le_reg_l with E; lra).
    assert (0 <= q) by (apply Rmult_le_reg_l with E; nra).
    rewrite (Rmax_left (1 - d - E * a)), Rmax_right by lra. auto.
  - assert (0 <= (E - 1) * (E + 1) * (a - c)) by (apply Rmult_le_pos; lra).
    assert (1 - d - E * a <= q) by (apply Rmult_le_reg_l with E; lra).
    assert (0 <= q) by (apply Rmult_le_reg_l with E; lra).
    rewrite (Rmax_right (1 - d - E * a)), Rmax_right by lra. auto.
  - intros Ha. rewrite Rmax_left; auto. apply Rmax_lub; [nra|].
    apply Rmult_le_reg_l with E; lra. }
assert (K : forall E d, 1 <= E -> 0 <= d <= 1 -> 0 <= (1 - d) / (1 + E) <= 1 - d /\
  (1 - d) / (1 + E) * (1 + E) = 1 - d).
{ intros E d HE Hd. assert (H : (1 - d) / (1 + E) * (1 + E) = 1 - d) by (field; lra).
  assert (0 <= (1 - d) / (1 + E)) by (apply fraction_nonneg; lra). nra. }
assert (M : forall x y : R, x + - 1 * y = x - y) by (intros; ring).
split; [|split; [|split]]; intros E d.
- intros HE H0 H1. rewrite !M. destruct (K E d HE (conj H0 H1)). split; [|
    destruct (V E d 0 HE (conj H0 H1)) as [-> _]; lra].
  destruct (V E d ((1 - d) / (1 + E)) HE (conj H0 H1)) as [-> _]; lra.
- intros a HE H0 H1 Ha Hb H. rewrite !M in *. apply V; auto.
- intros a HE H0 H1 Ha Hb G H. rewrite !M in *. apply V; auto.
- intros a HE H0 H1 Ha Hb H. rewrite !M in *. apply V; auto.

(** * gdp.def5 gdp.thm4.tight slides.composition_tight slides.tensor_props gdp.tensor.p2 gdp.tensor.p1 gdp.tensor.p3 *)
assert (left : forall A (l : list A) B (m : list B) C (n : list C) P Q X Y V W,
  law l P -> law l Q -> law m X -> law m Y -> law n V -> law n W ->
  (forall a, 0 <= a <= 1 -> tradeoff l P Q a >= tradeoff m X Y a) ->
  forall a, 0 <= a <= 1 -> tradeoff (list_prod l n) (product P V) (product Q W) a >=
    tradeoff (list_prod m n) (product X V) (product Y W) a).
{ intros A l B m C n P Q X Y V W HP HQ HX HY HV HW H.
  apply tradeoff_order; auto using product_law. apply tradeoff_order in H; auto.
  apply dominates_joint; auto; try solve [intros ? _; auto];
    try solve [intros ? _; apply dominates_refl]; apply dominates_refl. }
assert (right : forall A (l : list A) B (m : list B) C (n : list C) P Q X Y V W,
  law l P -> law l Q -> law m X -> law m Y -> law n V -> law n W ->
  (forall a, 0 <= a <= 1 -> tradeoff l P Q a >= tradeoff m X Y a) ->
  forall a, 0 <= a <= 1 -> tradeoff (list_prod n l) (product V P) (product W Q) a >=
    tradeoff (list_prod n m) (product V X) (product W Y) a).
{ intros A l B m C n P Q X Y V W HP HQ HX HY HV HW H.
  apply tradeoff_order; auto using product_law. apply tradeoff_order in H; auto.
  apply dominates_joint; auto; try solve [intros ? _; auto];
    try solve [intros ? _; apply dominates_refl]; apply dominates_refl. }
assert (swap : forall A (l : list A) B (m : list B) P Q X Y,
  law l P -> law l Q -> law m X -> law m Y -> forall a, 0 <= a <= 1 ->
  tradeoff (list_prod l m) (product P X) (product Q Y) a =
  tradeoff (list_prod m l) (product X P) (product Y Q) a).
{ intros. apply tradeoff_same; auto using product_law. intros. apply HS_swap. }
assert (assoc : forall A (l : list A) B (m : list B) C (n : list C) P Q X Y V W,
  law l P -> law l Q -> law m X -> law m Y -> law n V -> law n W ->
  forall a, 0 <= a <= 1 ->
  tradeoff (list_prod (list_prod l m) n) (product (product P X) V) (product (product Q Y) W) a =
  tradeoff (list_prod l (list_prod m n)) (product P (product X V)) (product Q (product Y W)) a).
{ intros. apply tradeoff_same; auto using product_law. intros. apply HS_assoc. }
assert (same : forall A (l : list A) B (m : list B) P Q V,
  law l P -> law l Q -> law m V -> forall a, 0 <= a <= 1 ->
  tradeoff (list_prod l m) (product P V) (product Q V) a = tradeoff l P Q a).
{ intros. apply tradeoff_same; auto using product_law. intros. apply HS_with_same; auto. }
assert (same2 : forall A (l : list A) B (m : list B) P Q V,
  law l P -> law l Q -> law m V -> forall a, 0 <= a <= 1 ->
  tradeoff (list_prod m l) (product V P) (product V Q) a = tradeoff l P Q a).
{ intros. rewrite swap by auto. apply same; auto. }
repeat split; intros; auto.

(** * gdp.tensor.p4 *)
intros A l B m P Q X Y HP HQ HX HY a Ha. apply inverse_tradeoff; auto using product_law.

(** * gdp.eq10 *)
intros E d HE H0 H1 a Ha. rewrite <- approximate_tradeoff by auto.
apply tradeoff_same; auto; try apply product_law;
  try (apply response0_law || apply response1_law); try lra.
intros g Hg. rewrite lost_product by (auto; (apply response0_law || apply response1_law); lra).
rewrite !HS_mirror, !response_HS by lra. field. lra.

(** * gdp.eq11 *)
intros d c H0 H1 H2 H3 a Ha. replace (1 + - 1 * ((1 + - 1 * d) * (1 + - 1 * c)))
  with (1 - (1 - d) * (1 - c)) by ring. rewrite <- approximate_tradeoff by (try lra; nra).
apply tradeoff_same; auto; try apply product_law;
  try (apply response0_law || apply response1_law); try lra; try nra.
intros g Hg. rewrite lost_product by (auto; (apply response0_law || apply response1_law); lra).
rewrite !HS_mirror, !response_HS by (try lra; nra). field.

(** * gdp.eq12 gdp.fig5L *)
assert (L0 : forall d, 0 <= d <= 1 -> law letters (response0 1 d))
  by (intros; apply response0_law; lra).
assert (L1 : forall d, 0 <= d <= 1 -> law letters (response1 1 d))
  by (intros; apply response1_law; lra).
split; intros A l P Q d a HP HQ H0 H1 Ha Hb H;
  (assert (D : 0 <= d <= 1) by lra);
  pose proof (product_law l letters P _ HP (L0 d D)) as M0;
  pose proof (product_law l letters Q _ HQ (L1 d D)) as M1.
- replace (1 + - 1 * d) with (1 - d) in * by ring.
  assert (B : 0 <= a / (1 - d) <= 1).
  { split; [apply fraction_nonneg; lra|]. apply Rmult_le_reg_r with (1 - d); [lra|].
    replace (a / (1 - d) * (1 - d)) with a by (field; lra). lra. }
  assert (E : (1 - d) * (a / (1 - d)) = a) by (field; lra). apply Rle_antisym.
  + destruct (tradeoff_attained l P Q HP HQ _ B) as [f [T [S ->]]].
    destruct (lost_test l P Q d f HQ D T) as [h [T2 [S2 V]]].
    eapply Rle_trans; [apply (tradeoff_below _ _ _ M1 a h Ha T2)|].
    * rewrite S2, S, E. lra.
    * rewrite V. lra.
  + destruct (tradeoff_duality l P Q HP HQ _ B) as [g [Hg ->]].
    pose proof (tradeoff_above_line (list_prod l letters) (product P (response0 1 d)) _ M1 a g
      Ha Hg) as U. rewrite lost_product in U by auto.
    eapply Rle_trans; [|exact U]. rewrite <- E at 2. lra.
- apply Rle_antisym; [|apply tradeoff_nonneg; auto].
  destruct (tradeoff_duality _ _ _ M0 M1 a (conj Ha Hb)) as [g [Hg ->]].
  rewrite lost_product by auto. pose proof (divergence_above_gap l Q P g HQ HP).
  assert ((1 - d) * (1 - g) <= (1 - d) * HS l g Q P) by (apply Rmult_le_compat_l; lra).
  rewrite minus_one in H. assert (0 <= g * (a - (1 - d))) by (apply Rmult_le_pos; lra). lra.

(** * slides.neyman_pearson *)
intros A l P Q f F HP HQ T HF H. pose proof (test_below l Q P F f T).
pose proof (HS_attained l F Q P).
assert (F * expectation l P f <= F * probability l P (likely F Q P))
  by (apply Rmult_le_compat_l; auto). lra.

(** * slides.subsampling_identity *)
intros A l P Q p a HP HQ H0 H1 Ha Hb.
assert (HM : law l (mixed p Q P)) by (apply mixed_law; auto). apply Rle_antisym.
- destruct (tradeoff_attained l P Q HP HQ a (conj Ha Hb)) as [f [T [S E]]].
  pose proof (tradeoff_below l P (mixed p Q P) HM a f Ha T (Req_le _ _ S)) as B.
  rewrite expectation_mixed, S in B. rewrite E. lra.
- apply tradeoff_greatest; auto. intros f T S. rewrite expectation_mixed.
  pose proof (tradeoff_below l P Q HQ a f Ha T S) as B.
  assert (p * tradeoff l P Q a <= p * (1 - expectation l Q f)) by (apply Rmult_le_compat_l; auto).
  assert ((1 - p) * expectation l P f <= (1 - p) * a) by (apply Rmult_le_compat_l; lra). lra.

(** * steinke.sec62.group *)
assert (K : forall A (l : list A) P Q W E d, 1 <= E ->
  HS l E P W <= d -> HS l E W Q <= d -> HS l (E ^ 2) P Q <= (1 + E) * d).
{ intros A l P Q W E d HE H0 H1. apply Rle_trans with (HS l E P W + E * HS l E W Q); [|nra].
  unfold HS. rewrite <- sum_scale, <- sum_plus. apply sum_le. intros a _.
  rewrite <- positive_part_scale by lra.
  replace (P a - E ^ 2 * Q a) with (P a - E * W a + E * (W a - E * Q a)) by ring.
  apply positive_part_plus. }
intros A l P Q W E d HP HQ HW HE _ _ H0 H1 H2 H3. split; apply K with W; auto.

(** * steinke.sec62.poisson *)
intros p E d x H0 H1 HE Hd Hx H. assert (N : 0 < 1 + - 1 * p + p * E) by nra.
apply Rle_ge. apply Rmult_le_reg_r with (1 + - 1 * p + p * E); auto.
replace ((x + - 1 * (p * d)) / (1 + - 1 * p + p * E) * (1 + - 1 * p + p * E))
  with (x - p * d) by (field; lra).
assert (W : p / E * E = p) by (field; lra). set (q := p / E) in *.
assert (Q0 : 0 <= q) by (unfold q; apply fraction_nonneg; lra). clearbody q.
assert (0 <= (1 - p) * ((E - 1) * (q * (E - 1) * x + q * d))).
{ apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [lra|]. apply Rplus_le_le_0_compat; repeat apply Rmult_le_pos; lra. }
replace ((1 + - 1 * p + q) * x + - 1 * (q * d)) with ((1 - p) * x + q * (x - d)) by ring.
apply Rle_trans with (x - p * d + (1 - p) * ((E - 1) * (q * (E - 1) * x + q * d))); [lra|].
rewrite <- W. right. ring.

(** * steinke.sec7.kov *)
intros E d k F HE H0 H1 _ HF. rewrite equal_steps, !minus_one by lra. do 4 f_equal.
apply sum_ext. intros l Hl. apply in_seq in Hl.
rewrite power_of_difference, minus_one by (auto; lia). auto.

(** * steinke.sec7.kov_iii3 *)
intros E k i HE _ _ H. apply twice_below in H. rewrite branch_power by auto.
rewrite equal_steps_branch by (auto; lra). rewrite <- branch_sum by auto.
rewrite Rminus_0_r, pow1. ring.

(** * steinke.thm34.prefactor *)
intros p a H0 H1 Ha. assert (I : (2 <= a)%nat) by (apply INR_le; simpl; lra).
pose proof (steinke_thm34_prefactor (a - 1) p (conj H0 H1)) as B.
rewrite minus_INR in B by lia. rewrite minus_one. exact B.

(** * steinke.thm38.const *)
intros r a H0 H1 Ha.
assert (C : exp (2 * r) <= 1 + r * (exp 2 - 1)).
{ pose proof (exp_chord 2 0 r (conj (Rlt_le _ _ H0) H1)) as C. rewrite exp_0 in C.
  replace (r * 2 + (1 - r) * 0) with (2 * r) in C by ring. lra. }
assert (B : exp 1 / 2 * (exp 2 - 1) <= 9) by interval.
assert (A1 : 1 / a <= 1).
{ apply Rmult_le_reg_r with a; [lra|]. replace (1 / a * a) with 1 by (field; lra). lra. }
assert (D : exp 1 / 2 * (exp (2 * r) + - 1) / r <= exp 1 / 2 * (exp 2 - 1)).
{ apply Rmult_le_reg_r with r; auto.
  replace (exp 1 / 2 * (exp (2 * r) + - 1) / r * r) with (exp 1 / 2 * (exp (2 * r) - 1))
    by (field; lra).
  rewrite Rmult_assoc. apply Rmult_le_compat_l; [interval|]. lra. }
lra.

(** * gdp.thm7.small *)
intros d Hd. split.
- destruct (MVT_cor2 (fun y => 1 - y + y ^ 2 / 2 - exp (- y)) (fun y => - 1 + y + exp (- y)) 0 d Hd)
    as [c [E [C0 C1]]].
  { intros c _. apply is_derive_Reals. auto_derive; auto. field. }
  rewrite Ropp_0, exp_0 in E. pose proof (exp_ineq1 (- c)) as X.
  assert (N : - c <> 0) by lra. specialize (X N).
  assert (0 < (- 1 + c + exp (- c)) * (d - 0)) by (apply Rmult_lt_0_compat; lra).
  replace ((- 1) * d) with (- d) by ring. lra.
- pose proof (exp_ineq1 (- 1 * d)) as X. assert (N : - 1 * d <> 0) by lra. specialize (X N). lra.

(** * gdp.fig7.adjacency *)
intros; field; nonzero.

(** * slides.census_table.US slides.census_table.State slides.census_table.County slides.census_table.PEPG slides.census_table.TractSubsetGroup slides.census_table.TractSubset slides.census_table.OptBlockGroup slides.census_table.Block *)
split; lra.

(** * gdp.eq7 slides.tradeoff_def *)
assert (likely_attains : forall A (l : list A) P Q F, law l P -> law l Q -> 0 <= F ->
  1 - tradeoff l P Q (probability l P (likely F Q P)) - F * probability l P (likely F Q P) =
  HS l F Q P).
{ intros A l P Q F HP HQ HF. set (S := likely F Q P).
  pose (f := fun a => if S a then 1 else 0).
  assert (T : test l f) by (intros a _; unfold f; destruct (S a); lra).
  assert (E : forall W : A -> R, expectation l W f = probability l W S).
  { intros W. apply sum_ext. intros a _. unfold f. destruct (S a); ring. }
  pose proof (expectation_bounds l P f HP T) as B. rewrite E in B.
  pose proof (tradeoff_above_line l P Q HQ (probability l P S) F (proj1 B) HF) as L.
  pose proof (tradeoff_below l P Q HQ (probability l P S) f (proj1 B) T (Req_le _ _ (E P))) as U.
  rewrite E in U. pose proof (HS_attained l F Q P) as V. fold S in V. lra. }
split.
- intros A l P Q.
  first [ intros F a HP HQ HF Ha Hb; pose proof (tradeoff_above_line l P Q HQ a F Ha HF); lra
        | intros f a HP HQ T Ha Hb S; pose proof (tradeoff_below l P Q HQ a f Ha T S); lra ].
- intros A l P Q F HP HQ HF. pose proof (likely_attains A l P Q F HP HQ HF) as E.
  pose proof (HS_attained l F Q P). lra.

(** * steinke.def32.forms *)
intros A l P Q a HP HQ Ha. split; [reflexivity|]. rewrite moment_mean. apply sum_ext. intros b Hb.
rewrite (loss_swap l P Q HP HQ) by auto. rewrite <- (exp_minus_loss l P Q HP HQ) by auto.
rewrite Rmult_assoc, <- exp_plus. f_equal. f_equal. ring.

(** * gdp.prop1.min_no *)
unfold approximate. repeat match goal with
| |- context [Rmax ?a ?b] => first [rewrite (Rmax_left a b) by lra | rewrite (Rmax_right a b) by lra]
| |- context [Rmin ?a ?b] => first [rewrite (Rmin_left a b) by lra | rewrite (Rmin_right a b) by lra]
end. lra.

(** * kov.sec6D.alphabet *)
intros E d k HE H0 H1 _. split; [field; lra|].
pose proof (equal_steps_branch E d k 0 HE (conj H0 H1)) as H.
change (2 * 0)%nat with 0%nat in H. rewrite Nat.sub_0_r in H. rewrite H by lia. simpl sum. rewrite !minus_one.
field. apply pow_nonzero. lra.

(** * slides.D_eps slides.D_epsdelta *)
assert (event : forall (A : Type) (l : list A) P Q (S : A -> bool), law l P -> law l Q ->
  tradeoff l P Q (1 + (- 1) * probability l P S) <= probability l Q S).
{ intros A l P Q S HP HQ. set (f := fun x => if S x then 0 else 1).
  assert (N : forall W, law l W -> expectation l W f = 1 - probability l W S).
  { intros W [_ E]. assert (expectation l W f + probability l W S = sum l W); [|lra].
    unfold expectation, probability, f. rewrite <- sum_plus. apply sum_ext.
    intros x _. destruct (S x); ring. }
  assert (T : test l f) by (intros x _; unfold f; destruct (S x); lra).
  pose proof (expectation_bounds l P f HP T) as B. rewrite N in B by auto. rewrite minus_one.
  assert (C : expectation l P f <= 1 - probability l P S) by (rewrite N by auto; lra).
  pose proof (tradeoff_below l P Q HQ _ f (proj1 B) T C) as H. rewrite N in H by auto. lra. }
assert (line : forall (A : Type) (l : list A) P Q E d a, law l P -> law l Q -> 0 < E -> 0 <= a ->
  HS l E P Q <= d -> 1 - a - d <= E * tradeoff l P Q a).
{ intros A l P Q E d a HP HQ HE Ha H.
  assert (G : (1 - a - d) / E <= tradeoff l P Q a).
  { apply tradeoff_greatest; auto. intros f T F.
    assert (U : test l (fun x => 1 - f x)) by (intros x Hx; pose proof (T x Hx); lra).
    pose proof (test_below l P Q E _ U) as B. rewrite !expectation_not in B by auto.
    apply Rmult_le_reg_l with E; auto. replace (E * ((1 - a - d) / E)) with (1 - a - d) by (field; lra).
    lra. }
  apply (Rmult_le_compat_l E) in G; [|lra].
  replace (E * ((1 - a - d) / E)) with (1 - a - d) in G by (field; lra). exact G. }
split; [exact event|].
- intros A l P Q E. intros. assert (0 < E) by lra.
  match goal with H : HS _ _ _ _ <= ?d |- _ <= _ * tradeoff _ _ _ ?a =>
    assert (1 - a - d <= E * tradeoff l P Q a) by (apply line; auto; lra) end. lra.

(** * slides.similar_eps_delta *)
unfold HS, total_variation, positive_part, booleans, coin. simpl. repeat split; try lra;
unfold Rmax, Rabs; repeat destruct Rle_dec; repeat destruct Rcase_abs; lra.

(** * slides.fig_10fold *)
assert (1 <= exp (1 / sqrt 10)) by interval.
split; rewrite equal_steps by (try (left; apply exp_pos); lra);
cbn [seq sum fold_right map choose Nat.sub]; rewrite ?(Rmax_left 0) by interval;
rewrite Rmax_right by interval; simpl; interval.
