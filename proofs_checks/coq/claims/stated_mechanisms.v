(** Proofs of typed statements about adaptive mechanisms, finite sums, and laws on two outcomes. *)

(** * kov.intro.basic kov.thm3.1 *)
intros B m X Y x d k HX HY Hx H0 H1 _ K0 K1. apply close_iff_HS.
pose proof (equal_worst_steps m X Y x d k Hx (conj H0 H1) HX HY K0 K1) as D.
apply basic_composition in D. unfold total_epsilon, total_delta in D.
rewrite repeat_length, !repeat_sum in D. apply D.

(** * kov.thm3.1.hetero *)
intros B m X Y e d k HX HY _ _ _ _ K0 K1. apply close_iff_HS.
pose proof (steps_adaptive m X Y e d k HX HY K0 K1) as D.
apply basic_composition in D. unfold total_epsilon, total_delta in D.
rewrite steps_length, !steps_sum in D. apply D.

(** * kov.thm3.2 *)
intros B m X Y x d s k HX HY Hx H0 H1 H2 H3 Hk K0 K1. apply close_iff_HS.
assert (I : (0 < k)%nat) by (apply INR_lt; simpl; lra).
pose proof (equal_worst_steps m X Y x d k (Rlt_le _ _ Hx) (conj H0 H1) HX HY K0 K1) as D.
pose proof (kov_thm3_2 m k x d s X Y I Hx (conj H0 H1) (conj H2 H3) D) as [T _].
replace (1 / s) with (/ s) by (unfold Rdiv; ring). rewrite (Rplus_comm _ (- 1)), (Rplus_comm (- 1)). exact T.

(** * kov.thm3.4.branch1 *)
intros B m X Y x d s k HX HY Hx H0 H1 H2 H3 _ K0 K1. rewrite !minus_one. apply close_iff_HS.
pose proof (equal_worst_steps m X Y x d k Hx (conj H0 H1) HX HY K0 K1) as D.
apply (kov_thm3_4_branch1 m k x d s X Y); auto.

(** * kov.thm3.4.branch2 *)
intros B m X Y x d s k HX HY Hx H0 H1 H2 H3 Hk K0 K1. rewrite !minus_one. apply close_iff_HS.
assert (I : (0 < k)%nat) by (apply INR_lt; simpl; lra).
pose proof (equal_worst_steps m X Y x d k (Rlt_le _ _ Hx) (conj H0 H1) HX HY K0 K1) as D.
rewrite tanh_is_half. replace (x ^ 2) with (x * x) by ring.
apply (kov_thm3_4_branch2 m k x d s X Y); auto.

(** * kov.thm3.4.branch3 *)
intros B m X Y x d s k HX HY Hx H0 H1 H2 H3 Hk K0 K1. rewrite !minus_one. apply close_iff_HS.
assert (I : (0 < k)%nat) by (apply INR_lt; simpl; lra).
pose proof (equal_worst_steps m X Y x d k (Rlt_le _ _ Hx) (conj H0 H1) HX HY K0 K1) as D.
rewrite tanh_is_half. replace (1 / s) with (/ s) by (unfold Rdiv; ring).
pose proof (kov_thm3_4_branch3 m k x d s X Y I Hx (conj H0 H1) (conj H2 H3) D) as [T _].
replace (INR k * (x * tanh_half x) + sqrt (2 * ln (/ s) * (INR k * x ^ 2)))
  with (INR k * x * tanh_half x + x * sqrt (2 * INR k * ln (/ s))); [exact T|].
rewrite Rmult_assoc. f_equal. rewrite <- (sqrt_square x) at 1 by lra.
rewrite <- sqrt_mult_alt by nra. f_equal. ring.

(** * kov.thm3.4 *)
intros B m X Y x d s k HX HY Hx H0 H1 H2 H3 Hk K0 K1. rewrite !minus_one. apply close_iff_HS.
assert (I : (0 < k)%nat) by (apply INR_lt; simpl; lra).
pose proof (equal_worst_steps m X Y x d k (Rlt_le _ _ Hx) (conj H0 H1) HX HY K0 K1) as D.
rewrite tanh_is_half. replace (1 / s) with (/ s) by (unfold Rdiv; ring).
replace (x ^ 2) with (x * x) by ring. apply (kov_thm3_4 m k x d s X Y); auto.

(** * kov.thm3.5 kov.thm3.5.sum_rule *)
intros B m X Y e d s k HX HY He H0 H1 H2 H3 Hk K0 K1. apply close_iff_HS.
assert (I : (0 < k)%nat) by (apply INR_lt; simpl; lra).
pose proof (steps_adaptive m X Y e d k HX HY K0 K1) as D.
assert (V : List.Forall valid (steps e d k)) by (apply steps_valid; auto; intros; left; auto).
assert (S : squares (steps e d k) = sum (seq 0 k) (fun j => e j ^ 2)).
{ unfold squares. rewrite steps_sum. apply sum_ext. intros. simpl. ring. }
assert (F : drift (steps e d k) = sum (seq 0 k) (fun j => e j * tanh (e j / 2))).
{ unfold drift. rewrite steps_sum. apply sum_ext. intros. rewrite tanh_is_half. auto. }
assert (Q : 0 < squares (steps e d k)).
{ rewrite S. apply Rlt_le_trans with (e 0%nat ^ 2); [apply pow_lt; auto|].
  apply (sum_above _ (fun j => e j ^ 2)); [|apply in_seq; lia].
  intros. apply pow_le. left; auto. }
pose proof (kov_thm3_5 m _ s X Y V (conj H2 H3) Q D) as [T _].
rewrite steps_length, steps_kept, steps_sum, S, F in T. unfold logarithm in T. rewrite S in T.
replace (1 / s) with (/ s) by (unfold Rdiv; ring). rewrite !(minus_one 1). exact T.

(** * kov.thm3.3 *)
intros B m X Y E d k i HX HY HE H0 H1 _ _ K0 K1 H. apply twice_below in H.
rewrite branch_power, branch_sum by auto. rewrite !(minus_one 1).
rewrite <- (equal_steps_branch E d k i HE (conj H0 H1) H).
assert (D : adaptive (repeat (Step (ln E) d) k) m X Y).
{ apply equal_adaptive; auto. intros h J W.
  split; [apply (worst_steps m k X Y)|apply (worst_steps m k Y X)]; auto. }
apply equal_dominates; auto. apply pow_le. lra.

(** * kov.sec4.converse kov.sec4.domination_direction *)
intros B m X Y E F d k HX HY HE HF H0 H1 _ K0 K1.
assert (D : adaptive (repeat (Step (ln E) d) k) m X Y).
{ apply equal_adaptive; auto. intros h J W.
  split; [apply (worst_steps m k X Y)|apply (worst_steps m k Y X)]; auto. }
apply equal_dominates; auto. lra.

(** * steinke.thm1 *)
intros B m X Y e k HX HY _ _ K0 K1.
assert (Z : forall f : nat -> R, largest (seq 0 k) f <= 0 ->
  largest (seq 0 k) (fun j => f j + (- 1) * 0) <= 0).
{ intros f H. rewrite (largest_ext _ _ f); auto. intros. ring. }
pose proof (steps_adaptive m X Y e (fun _ => 0) k HX HY (Z _ K0) (Z _ K1)) as D.
apply basic_composition in D. destruct D as [D _]. apply close_iff_HS in D.
unfold total_epsilon, total_delta in D. rewrite steps_length, !steps_sum in D. simpl in D.
rewrite sum_zero in D. exact D.

(** * steinke.thm18 *)
intros B m X Y e s k HX HY He H2 H3 Hk K0 K1.
assert (I : (0 < k)%nat) by (apply INR_lt; simpl; lra).
assert (Z : forall f : nat -> R, largest (seq 0 k) f <= 0 ->
  largest (seq 0 k) (fun j => f j + (- 1) * 0) <= 0).
{ intros f H. rewrite (largest_ext _ _ f); auto. intros. ring. }
pose proof (steps_adaptive m X Y e (fun _ => 0) k HX HY (Z _ K0) (Z _ K1)) as D.
replace (1 / s) with (/ s) by (unfold Rdiv; ring).
pose proof (steps_advanced m X Y e (fun _ => 0) s k I He) as T.
apply Rle_trans with (s + sum (seq 0 k) (fun _ => 0)).
- apply T; auto; intros; lra.
- rewrite sum_zero. lra.

(** * steinke.thm22 *)
intros B m X Y e d s k HX HY He H0 H1 H2 H3 Hk K0 K1.
assert (I : (0 < k)%nat) by (apply INR_lt; simpl; lra).
pose proof (steps_adaptive m X Y e d k HX HY K0 K1) as D.
replace (1 / s) with (/ s) by (unfold Rdiv; ring).
unfold Rmin. match goal with |- context [if ?c then _ else _] => destruct c end.
- apply basic_composition in D. destruct D as [D _]. apply close_iff_HS in D.
  unfold total_epsilon, total_delta in D. rewrite steps_length, !steps_sum in D. simpl in D. lra.
- apply steps_advanced; auto; lra.

(** * kov.sec5.composed_formula *)
intros B m X Y x d s k HX HY Hx H0 H1 H2 H3 Hk K0 K1. rewrite !minus_one.
assert (I : (0 < k)%nat) by (apply INR_lt; simpl; lra).
pose proof (equal_worst_steps m X Y x d k (Rlt_le _ _ Hx) (conj H0 H1) HX HY K0 K1) as D.
pose proof (kov_thm3_4_branch2 m k x d s X Y I Hx (conj H0 H1) (conj H2 H3) D) as [T _].
apply close_iff_HS in T. eapply Rle_trans; [|exact T].
destruct (equal_laws m k x d X Y D) as [_ L]. apply HS_decreases; auto. apply exp_le.
replace (x ^ 2) with (x * x) by ring. apply Rplus_le_compat_r. apply Rmult_le_compat_l; [lra|].
pose proof (tanh_half_below x). nra.

(** * kov.sec6E.eps_tilde *)
intros B m X Y e d s k HX HY He H0 H1 H2 H3 Hk K0 K1.
assert (I : (0 < k)%nat) by (apply INR_lt; simpl; lra).
pose proof (steps_adaptive m X Y e d k HX HY K0 K1) as D.
assert (V : List.Forall valid (steps e d k)) by (apply steps_valid; auto; intros; left; auto).
assert (S : squares (steps e d k) = sum (seq 0 k) (fun j => e j ^ 2)).
{ unfold squares. rewrite steps_sum. apply sum_ext. intros. simpl. ring. }
assert (F : drift (steps e d k) = sum (seq 0 k) (fun j => e j * tanh (e j / 2))).
{ unfold drift. rewrite steps_sum. apply sum_ext. intros. rewrite tanh_is_half. auto. }
assert (Q : 0 < squares (steps e d k)).
{ rewrite S. apply Rlt_le_trans with (e 0%nat ^ 2); [apply pow_lt; auto|].
  apply (sum_above _ (fun j => e j ^ 2)); [|apply in_seq; lia].
  intros. apply pow_le. left; auto. }
destruct (adaptive_laws _ m X Y D) as [_ L]. rewrite steps_length in L.
pose proof (kov_thm3_5 m _ s X Y V (conj H2 H3) Q D) as [T _].
rewrite steps_length, steps_kept, steps_sum, S, F in T. unfold logarithm in T. rewrite S in T.
apply close_iff_HS in T. rewrite !(minus_one 1). eapply Rle_trans; [|exact T].
apply HS_decreases; auto. apply exp_le. eapply Rle_trans; [apply Rmin_r|apply Rmin_l].

(** * steinke.sec21.optimal *)
intros x a l k Hx Hk H. f_equal. pose proof (largest_below _ _ _ H) as B.
transitivity (sum (seq 0 k) (fun _ => x / INR k)).
- apply sum_ext. intros j Hj. specialize (B j Hj). cbv beta in B. rewrite !Rabs_right by lra.
  field. lra.
- rewrite sum_constant, seq_length. field. lra.

(** * steinke.lem20.identity *)
intros q x k _ _ _. unfold Rdiv. rewrite <- sum_scale_r. apply sum_ext. intros. ring.

(** * steinke.lem27 *)
intros p q x E d D k Hp Hq HE Hd HD _ H1 H2 H3. pose proof (largest_below _ _ _ H3) as B.
set (u := fun j => Rmax 0 (p j + (- 1) * (E * q j))) in *.
set (v := fun j => Rmax 0 (q j + (- 1) * (E * p j))) in *.
eapply Rle_trans.
- apply sum_le with (g := fun j => q j * x j + ((E + (- 1)) * (q j * Rabs (x j)) +
    (D * u j + D * v j))).
  intros j Hj. specialize (B j Hj). cbv beta in B. pose proof (Hp j). pose proof (Hq j).
  pose proof (Rmax_l 0 (p j + (- 1) * (E * q j))) as U0. fold (u j) in U0.
  pose proof (Rmax_r 0 (p j + (- 1) * (E * q j))) as U1. fold (u j) in U1.
  pose proof (Rmax_l 0 (q j + (- 1) * (E * p j))) as V0. fold (v j) in V0.
  pose proof (Rmax_r 0 (q j + (- 1) * (E * p j))) as V1. fold (v j) in V1.
  pose proof (Rmult_le_pos _ _ HD U0). pose proof (Rmult_le_pos _ _ HD V0).
  unfold Rabs in *. destruct (Rcase_abs (x j)) as [N|N].
  + assert (G : q j - p j <= (E - 1) * q j + v j).
    { destruct (Rle_dec (q j) (p j)); nra. }
    assert (- x j * (q j - p j) <= - x j * ((E - 1) * q j + v j)) by (apply Rmult_le_compat_l; lra).
    assert (- x j * v j <= D * v j) by (apply Rmult_le_compat_r; lra). nra.
  + assert (x j * (p j + (- 1) * (E * q j)) <= x j * u j) by (apply Rmult_le_compat_l; lra).
    assert (x j * u j <= D * u j) by (apply Rmult_le_compat_r; lra). nra.
- rewrite !sum_plus, !sum_scale. nra.

(** * gdp.cor3.direction *)
assert (T : forall E d, 1 <= E -> 0 <= d <= 1 ->
  total_variation letters (response0 E d) (response1 E d) = d + (1 - d) * (E - 1) / (E + 1)).
{ intros E d HE Hd. assert (0 <= (1 - d) / (1 + E) * (E - 1)).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat]|]; lra. }
  unfold total_variation. simpl. rewrite (Rabs_right (d - 0)), (Rabs_left1 (0 - d)) by lra.
  rewrite (Rabs_right ((1 - d) * E / (1 + E) - _)), (Rabs_left1 ((1 - d) / (1 + E) - _)).
  - field. lra.
  - replace ((1 - d) / (1 + E) - (1 - d) * E / (1 + E)) with (- ((1 - d) / (1 + E) * (E - 1)))
      by (field; lra). lra.
  - replace ((1 - d) * E / (1 + E) - (1 - d) / (1 + E)) with ((1 - d) / (1 + E) * (E - 1))
      by (field; lra). lra. }
split; [|split; interval].
intros E d p HE H0 H1 P0 P1.
assert (M : total_variation letters (response0 E d) (mixed p (response1 E d) (response0 E d)) =
  p * (d + (1 - d) * (E - 1) / (E + 1))).
{ rewrite <- T by lra. unfold total_variation, mixed.
  transitivity (sum letters (fun a => p * Rabs (response0 E d a - response1 E d a)) / 2).
  - f_equal. apply sum_ext. intros a _. rewrite <- (Rabs_right p) at 3 by lra.
    rewrite <- Rabs_mult. f_equal. ring.
  - rewrite sum_scale. field. }
rewrite M. split.
- assert (0 < p * (E - 1)) by (apply Rmult_lt_0_compat; lra). rewrite T by nra.
  assert (X : 0 < p * (E - 1) * (1 - p) * (2 * d + (E - 1)) / ((E + 1) * (2 + p * (E - 1)))).
  { apply Rdiv_lt_0_compat; repeat apply Rmult_lt_0_compat; lra. }
  replace (p * (d + (1 - d) * (E - 1) / (E + 1)))
    with (p * d + (1 - p * d) * (1 + (- 1) * p + p * E - 1) / (1 + (- 1) * p + p * E + 1) -
      p * (E - 1) * (1 - p) * (2 * d + (E - 1)) / ((E + 1) * (2 + p * (E - 1))))
    by (field; lra). lra.
- field. lra.

(** * gdp.eq15 *)
split.
- intros A l P Q p E _ _ Hp _ HE. unfold HS. rewrite <- sum_scale. apply sum_ext. intros a _.
  unfold mixed. rewrite <- positive_part_scale by auto. f_equal. ring.
- intros A l P Q p a HP HQ H0 H1 Ha Hb.
  assert (HM : law l (mixed p Q P)) by (apply mixed_law; auto). apply Rle_antisym.
  - destruct (tradeoff_attained l P Q HP HQ a (conj Ha Hb)) as [f [T [S E]]].
    pose proof (tradeoff_below l P (mixed p Q P) HM a f Ha T (Req_le _ _ S)) as B.
    rewrite expectation_mixed, S in B. rewrite E. lra.
  - apply tradeoff_greatest; auto. intros f T S. rewrite expectation_mixed.
    pose proof (tradeoff_below l P Q HQ a f Ha T S) as B.
    assert (p * tradeoff l P Q a <= p * (1 - expectation l Q f)) by (apply Rmult_le_compat_l; auto).
    assert ((1 - p) * expectation l P f <= (1 - p) * a) by (apply Rmult_le_compat_l; lra). lra.

(** * gdp.eq6.nonconvex *)
set (P := coin (1 / 2)). set (Q := coin (1 / 10)).
assert (HP : law booleans P) by (apply coin_law; lra).
assert (HQ : law booleans Q) by (apply coin_law; lra).
assert (I : forall a, 0 <= a <= 1 -> inverse (tradeoff booleans P Q) a = tradeoff booleans Q P a).
{ intros. apply inverse_tradeoff; auto. }
rewrite !I by lra.
assert (T : forall b, test booleans (fun c : bool => if Bool.eqb c b then 1 else 0)).
{ intros b c _. destruct (Bool.eqb c b); lra. }
assert (L0 : 46 / 100 <= tradeoff booleans P Q (3 / 10)).
{ eapply Rle_trans; [|apply (tradeoff_above_line booleans P Q HQ (3 / 10) (9 / 5)); lra].
  unfold HS, P, Q, coin, booleans. cbn [sum]. rewrite !positive_part_of_nonpos by lra. lra. }
assert (L1 : 38 / 100 <= tradeoff booleans Q P (3 / 10)).
{ eapply Rle_trans; [|apply (tradeoff_above_line booleans Q P HP (3 / 10) (5 / 9)); lra].
  unfold HS, P, Q, coin, booleans. cbn [sum].
  rewrite positive_part_of_nonneg by lra. rewrite positive_part_of_nonneg by lra. lra. }
assert (U0 : tradeoff booleans P Q (1 / 2) <= 1 / 10).
{ eapply Rle_trans; [apply (tradeoff_below booleans P Q HQ (1 / 2) _ ltac:(lra) (T false))|];
    unfold expectation, P, Q, coin, booleans; cbn [sum Bool.eqb]; lra. }
assert (U1 : tradeoff booleans Q P (1 / 10) <= 1 / 2).
{ eapply Rle_trans; [apply (tradeoff_below booleans Q P HP (1 / 10) _ ltac:(lra) (T true))|];
    unfold expectation, P, Q, coin, booleans; cbn [sum Bool.eqb]; lra. }
pose proof (Rmin_r (tradeoff booleans P Q (1 / 10)) (tradeoff booleans Q P (1 / 10))).
pose proof (Rmin_l (tradeoff booleans P Q (1 / 2)) (tradeoff booleans Q P (1 / 2))).
assert (38 / 100 <= Rmin (tradeoff booleans P Q (3 / 10)) (tradeoff booleans Q P (3 / 10)))
  by (apply Rmin_glb; lra). lra.

(** * steinke.thm29.rulesout *)
split.
- intros p E n F Hp Hp1 HE _ HF H. assert (R : 0 < E ^ n) by (apply pow_lt; lra).
  assert (R0 : 0 < / E ^ n) by (apply Rinv_0_lt_compat; auto). set (r := / E ^ n) in *.
  assert (A : 0 < E / (E + 1)) by (apply Rdiv_lt_0_compat; lra).
  assert (P : 0 < p / E) by (apply Rdiv_lt_0_compat; lra).
  replace ((1 + (- 1) * p) / E ^ n) with ((1 - p) * r) by (unfold r; field; repeat split; lra).
  replace (E * (E + (- 1)) / (p * E ^ n)) with (E * (E - 1) * r / p) in H by (unfold r; field; repeat split; lra).
  assert (T : 0 <= (1 - p) * r) by nra.
  assert (L : F * (p / E + (1 - p) * r) < p + (1 - p) * r).
  { eapply Rlt_le_trans; [apply Rmult_lt_compat_r; [lra|exact H]|].
    replace ((E + (- 1) * (E * (E - 1) * r / p)) * (p / E + (1 - p) * r))
      with (p + r * (1 - E * p) - E * (E - 1) * r * ((1 - p) * r) / p) by (field; repeat split; lra).
    assert (0 <= E * (E - 1) * r * ((1 - p) * r) / p).
    { apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra]. repeat apply Rmult_le_pos; lra. }
    assert (0 <= r * (p * (E - 1))) by (repeat apply Rmult_le_pos; lra). lra. }
  unfold HS, coin, booleans. cbn [sum]. apply Rlt_gt.
  pose proof (positive_part_nonneg (1 - E / (E + 1) * (p + (1 - p) * r) -
    F * (1 - E / (E + 1) * (p / E + (1 - p) * r)))).
  pose proof (positive_part_above (E / (E + 1) * (p + (1 - p) * r) -
    F * (E / (E + 1) * (p / E + (1 - p) * r)))).
  assert (0 < E / (E + 1) * (p + (1 - p) * r - F * (p / E + (1 - p) * r)))
    by (apply Rmult_lt_0_compat; lra). lra.
- intros E k HE _. assert (R : 1 <= E ^ k) by (apply pow_R1_Rle; lra).
  assert (R0 : 0 < / E ^ k <= 1).
  { split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  assert (A : 0 < / (E + 1)) by (apply Rinv_0_lt_compat; lra).
  assert (B : E / (E + 1) * (E + 1) = E) by (field; repeat split; lra).
  replace (E / (E + 1) * (1 / (E * E ^ k))) with (/ (E + 1) * / E ^ k) by (field; repeat split; lra).
  replace (E / (E + 1) * (1 / E ^ k)) with (E * (/ (E + 1) * / E ^ k)) by (field; repeat split; lra).
  set (s := / (E + 1) * / E ^ k). assert (S0 : 0 < s) by (apply Rmult_lt_0_compat; lra).
  assert (S : s * (E + 1) <= 1).
  { replace (s * (E + 1)) with (/ E ^ k) by (unfold s; field; lra). lra. }
  assert ((E - 1) * (s * (E + 1)) <= (E - 1) * 1) by (apply Rmult_le_compat_l; lra).
  assert (0 <= s * ((E - 1) * (E + 1))) by (repeat apply Rmult_le_pos; lra).
  unfold HS, coin, booleans. cbn [sum].
  split; rewrite !positive_part_of_nonpos by lra; lra.
