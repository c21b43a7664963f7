(** The tail of the normal distribution: Phi(-x) is at most exp(-x^2/2)/2 for x >= 0.

    The sum of bell(x)^2/2 and of the integral of exp(-x^2 (1 + v^2)/2)/(1 + v^2) over v in [0, 1] has
    the slope 0, so it is its value pi/4 at 0. *)
Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From DPExact Require Import Gaussian Analysis Terms.
Open Scope R_scope.

Definition slice (u v : R) : R := exp (- (u * u) * (1 + v * v) / 2) / (1 + v * v).
Lemma above_one v : 0 < 1 + v * v.
Proof. pose proof (Rle_0_sqr v). unfold Rsqr in *. lra. Qed.
Lemma slice_slope u v : is_derive (fun z => slice z v) u (- u * exp (- (u * u) * (1 + v * v) / 2)).
Proof.
  unfold slice. pose proof (above_one v). auto_derive; [auto|]. unfold Rdiv. field. lra.
Qed.
Lemma slice_continuous u v : continuous (slice u) v.
Proof.
  pose proof (above_one v). apply @ex_derive_continuous. unfold slice. auto_derive. lra.
Qed.
Lemma slice_integral x : ex_RInt (slice x) 0 1.
Proof. apply @ex_RInt_continuous. intros. apply slice_continuous. Qed.
Lemma slices_slope x :
  is_derive (fun y => RInt (slice y) 0 1) x (- exp (- (x * x) / 2) * bell x).
Proof.
  assert (E : RInt (fun t => Derive (fun u => slice u t) x) 0 1 = - exp (- (x * x) / 2) * bell x).
  { set (c := - exp (- (x * x) / 2)).
    set (g := fun t => x * exp (- ((x * t + 0) * (x * t + 0)) / 2)).
    assert (G : ex_RInt g 0 1).
    { apply @ex_RInt_continuous. intros. apply @ex_derive_continuous. unfold g. auto_derive. auto. }
    transitivity (RInt (fun t => scal c (g t)) 0 1).
    { apply RInt_ext. intros t _. transitivity (- x * exp (- (x * x) * (1 + t * t) / 2)).
      { apply is_derive_unique, slice_slope. }
      unfold scal; simpl; unfold mult; simpl. unfold c, g.
      replace (- (x * x) * (1 + t * t) / 2) with (- (x * x) / 2 + - ((x * t + 0) * (x * t + 0)) / 2) by field.
      rewrite exp_plus. ring. }
    transitivity (scal c (RInt g 0 1)); [exact (RInt_scal g 0 1 c G)|]. unfold scal; simpl; unfold mult; simpl. f_equal. unfold g.
    pose proof (RInt_comp_lin (fun t => exp (- (t * t) / 2)) x 0 0 1) as L.
    rewrite Rmult_0_r, Rmult_1_r, !Rplus_0_r in L. unfold bell. rewrite <- L; [reflexivity|].
    apply @ex_RInt_continuous. intros. apply @ex_derive_continuous. auto_derive. auto. }
  rewrite <- E. apply is_derive_RInt_param.
  - exists (mkposreal 1 Rlt_0_1). intros y _ t _. eexists. apply slice_slope.
  - intros t _. apply continuity_2d_pt_ext with (fun u v => - u * exp (- (u * u) * (1 + v * v) / 2)).
    { intros u v. symmetry. apply is_derive_unique, slice_slope. }
    apply continuity_2d_pt_mult.
    + apply continuity_2d_pt_opp, continuity_2d_pt_id1.
    + apply (continuity_1d_2d_pt_comp exp (fun u v => - (u * u) * (1 + v * v) / 2)).
      * apply derivable_continuous_pt. apply derivable_pt_exp.
      * unfold Rdiv. repeat (apply continuity_2d_pt_mult || apply continuity_2d_pt_plus
          || apply continuity_2d_pt_opp || apply continuity_2d_pt_id1 || apply continuity_2d_pt_id2
          || apply continuity_2d_pt_const).
  - exists (mkposreal 1 Rlt_0_1). intros y _. apply slice_integral.
Qed.
Lemma slices_zero : RInt (slice 0) 0 1 = PI / 4.
Proof.
  rewrite <- atan_1. replace (atan 1) with (minus (atan 1) (atan 0)).
  2:{ rewrite atan_0. unfold minus, plus, opp; simpl. ring. }
  apply is_RInt_unique. apply (is_RInt_derive atan (slice 0)).
  - intros v _. unfold slice. replace (- (0 * 0) * (1 + v * v) / 2) with 0 by field. rewrite exp_0.
    pose proof (is_derive_Reals atan v (/ (1 + v ^ 2))) as [_ D].
    replace (1 / (1 + v * v)) with (/ (1 + v ^ 2)) by (field; pose proof (above_one v); lra).
    apply D. apply derivable_pt_lim_atan.
  - intros v _. apply slice_continuous.
Qed.

Lemma continuous_bell t : continuous (fun t => exp (- (t * t) / 2)) t.
Proof. apply (ex_derive_continuous (fun t => exp (- (t * t) / 2))). auto_derive. auto. Qed.
Lemma bell_slope x : is_derive bell x (exp (- (x * x) / 2)).
Proof.
  apply (is_derive_RInt (fun t => exp (- (t * t) / 2)) bell 0 x); [|apply continuous_bell].
  exists (mkposreal 1 Rlt_0_1). intros y _. apply (RInt_correct (fun t => exp (- (t * t) / 2))).
  apply (ex_RInt_continuous (fun t => exp (- (t * t) / 2))). intros z _. apply continuous_bell.
Qed.
Lemma bell_square x : bell x * bell x / 2 + RInt (slice x) 0 1 = PI / 4.
Proof.
  set (h := fun x => bell x * bell x / 2 + RInt (slice x) 0 1).
  assert (D : forall y, is_derive h y 0).
  { intros y. assert (A : is_derive (fun x => scal (/ 2) (bell x * bell x)) y
      (scal (/ 2) (exp (- (y * y) / 2) * bell y + bell y * exp (- (y * y) / 2)))).
    { apply is_derive_scal. apply (is_derive_mult bell bell y _ _ (bell_slope y) (bell_slope y)).
      intros. apply Rmult_comm. }
    pose proof (is_derive_plus _ _ _ _ _ A (slices_slope y)) as B.
    unfold scal, plus in B; simpl in B; unfold mult in B; simpl in B.
    apply is_derive_ext with (fun x => / 2 * (bell x * bell x) + RInt (slice x) 0 1).
    - intros t. change (/ 2 * (bell t * bell t) + RInt (slice t) 0 1 = h t). unfold h. field.
    - evar_last; [exact B|]. match goal with |- ?a = ?b => change (@eq R a b) end. field. }
  assert (E : h x = h 0).
  { destruct (Req_dec x 0) as [->|N]; auto.
    destruct (MVT_gen h 0 x (fun _ => 0)) as [c [_ M]]; [intros; apply D| |lra].
    intros y _. apply derivable_continuous_pt. exists 0. apply is_derive_Reals, D. }
  unfold h in E. rewrite E, slices_zero. unfold bell. rewrite RInt_point. unfold zero; simpl. field.
Qed.
Lemma Phi_nonneg x : 0 <= Phi x.
Proof.
  assert (J : 0 <= RInt (slice x) 0 1).
  { apply RInt_ge_0; [lra|apply slice_integral|]. intros v _. unfold slice.
    apply Rle_mult_inv_pos; [left; apply exp_pos|apply above_one]. }
  pose proof (bell_square x) as S. pose proof PI_RGT_0 as P. unfold Phi.
  set (r := sqrt (2 * PI)). assert (R0 : 0 < r) by (apply sqrt_lt_R0; lra).
  assert (RR : r * r = 2 * PI) by (apply sqrt_sqrt; lra).
  apply Rmult_le_reg_r with r; auto.
  replace ((1 / 2 + bell x / r) * r) with (r / 2 + bell x) by (field; lra). nra.
Qed.
Lemma normal_tail x : 0 <= x -> Phi (- x) <= exp (- (x * x) / 2) / 2.
Proof.
  intros Hx. set (u := exp (- (x * x) / 2)).
  assert (U0 : 0 < u) by apply exp_pos.
  assert (U1 : u <= 1). { unfold u. rewrite <- exp_0. apply exp_le. nra. }
  assert (B : RInt (slice x) 0 1 <= u * (PI / 4)).
  { rewrite <- slices_zero. apply Rle_trans with (RInt (fun v => scal u (slice 0 v)) 0 1).
    - apply RInt_le; [lra|apply slice_integral| |].
      + apply @ex_RInt_scal. apply slice_integral.
      + intros v _. unfold slice, scal; simpl; unfold mult; simpl. pose proof (above_one v).
        replace (- (0 * 0) * (1 + v * v) / 2) with 0 by field. rewrite exp_0.
        unfold Rdiv. rewrite <- Rmult_assoc, Rmult_1_r.
        apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; auto|]. unfold u. apply exp_le.
        pose proof (Rle_0_sqr (x * v)). unfold Rsqr in *. nra.
    - right. exact (RInt_scal (slice 0) 0 1 u (slice_integral 0)). }
  pose proof (bell_square x) as S. pose proof PI_RGT_0 as P.
  assert (N : 0 <= bell x).
  { unfold bell. apply RInt_ge_0; auto; [|intros; left; apply exp_pos].
    apply (ex_RInt_continuous (fun t => exp (- (t * t) / 2))). intros. apply continuous_bell. }
  set (r := sqrt (2 * PI)). assert (R0 : 0 < r) by (apply sqrt_lt_R0; lra).
  assert (RR : r * r = 2 * PI) by (apply sqrt_sqrt; lra).
  assert (M : bell (- x) = - bell x).
  { unfold bell. set (f := fun t => exp (- (t * t) / 2)).
    assert (X : forall a b, ex_RInt f a b).
    { intros. apply (ex_RInt_continuous f). intros. apply continuous_bell. }
    pose proof (RInt_comp_lin f (-1) 0 0 x (X _ _)) as L.
    replace (-1 * 0 + 0) with 0 in L by ring. replace (-1 * x + 0) with (- x) in L by ring.
    rewrite <- L. transitivity (scal (-1) (RInt f 0 x)).
    - rewrite <- (RInt_scal f 0 x (-1) (X _ _)). apply RInt_ext. intros t _.
      assert (E : f (-1 * t + 0) = f t) by (unfold f; f_equal; field). rewrite E. reflexivity.
    - unfold scal; simpl; unfold mult; simpl. ring. }
  unfold Phi. rewrite M. fold r. assert (G : (1 - u) / 2 <= bell x / r).
  { apply Rmult_le_reg_r with r; auto. replace (bell x / r * r) with (bell x) by (field; lra).
    assert (((1 - u) / 2 * r) * ((1 - u) / 2 * r) <= bell x * bell x) by nra.
    assert (0 <= (1 - u) / 2 * r) by (apply Rmult_le_pos; lra). nra. }
  replace (- bell x / r) with (- (bell x / r)) by (field; lra). lra.
Qed.
Lemma delta_below x e z : x <= 0 -> Phi x + (- 1) * (exp e * Phi z) <= exp (- (x * x) / 2) / 2.
Proof.
  intros H. assert (N : 0 <= - x) by lra. pose proof (normal_tail (- x) N) as T.
  rewrite Ropp_involutive in T. replace (- x * - x) with (x * x) in T by ring.
  pose proof (Rmult_le_pos _ _ (Rlt_le _ _ (exp_pos e)) (Phi_nonneg z)). lra.
Qed.
