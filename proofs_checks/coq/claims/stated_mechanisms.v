(** Proofs of typed statements about adaptive mechanisms with finitely many outcomes a step. *)

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
