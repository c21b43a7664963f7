(** Trade-off functions of finite laws: the lemma of Neyman and Pearson, and the order that they
    share with the hockey-stick divergence. *)
Require Import Reals Lra Lia List Bool Psatz.
From Coquelicot Require Import Coquelicot.
From DPExact Require Import Finite Response Testing.
Import ListNotations.
Open Scope R_scope.

(** The type II errors of the tests of size at most a, and their infimum. *)
Definition errors {A} (l : list A) (P Q : A -> R) (a x : R) : Prop :=
  exists f, test l f /\ expectation l P f <= a /\ x = 1 - expectation l Q f.
Definition tradeoff {A} (l : list A) (P Q : A -> R) (a : R) : R :=
  real (Glb_Rbar (errors l P Q a)).
(** f^{-1}(a), the infimum of all t in [0, 1] with f(t) <= a. *)
Definition inverse (f : R -> R) (a : R) : R :=
  real (Glb_Rbar (fun t => 0 <= t <= 1 /\ f t <= a)).
(** f_{eps, delta}, E for e^eps. *)
Definition approximate (E d a : R) : R := Rmax 0 (Rmax (1 - d - E * a) ((1 - d - a) / E)).

Lemma infimum (S : R -> Prop) low x : S x -> (forall y, S y -> low <= y) ->
  (forall y, S y -> real (Glb_Rbar S) <= y) /\
  (forall c, (forall y, S y -> c <= y) -> c <= real (Glb_Rbar S)).
Proof.
  intros Sx L. destruct (Glb_Rbar_correct S) as [B G].
  assert (F : is_finite (Glb_Rbar S)).
  { pose proof (B x Sx) as U. assert (D : Rbar_le low (Glb_Rbar S)) by (apply G; exact L).
    destruct (Glb_Rbar S); simpl in *; try contradiction. reflexivity. }
  rewrite <- F in B, G. split.
  - intros y Sy. exact (B y Sy).
  - intros c H. exact (G c H).
Qed.

Section Tests.
Context {A : Type} (l : list A) (P Q : A -> R).
Hypothesis (HP : law l P) (HQ : law l Q).

Lemma never_test : test l (fun _ => 0).
Proof. intros x _. lra. Qed.

Lemma never_expectation (W : A -> R) : expectation l W (fun _ => 0) = 0.
Proof. unfold expectation. rewrite sum_scale_r. ring. Qed.

Lemma always_expectation (W : A -> R) : law l W -> expectation l W (fun _ => 1) = 1.
Proof. intros [_ S]. unfold expectation. rewrite sum_scale_r, S. ring. Qed.

Lemma tradeoff_infimum a : 0 <= a ->
  (forall f, test l f -> expectation l P f <= a -> tradeoff l P Q a <= 1 - expectation l Q f) /\
  (forall c, (forall f, test l f -> expectation l P f <= a -> c <= 1 - expectation l Q f) ->
     c <= tradeoff l P Q a).
Proof.
  intros Ha. destruct (infimum (errors l P Q a) 0 1) as [B G].
  - exists (fun _ => 0). split; [apply never_test|]. rewrite !never_expectation. lra.
  - intros y [f [T [_ ->]]]. pose proof (expectation_bounds l Q f HQ T). lra.
  - split.
    + intros f T S. apply B. exists f. auto.
    + intros c H. apply G. intros y [f [T [S ->]]]. auto.
Qed.

Lemma tradeoff_below a f : 0 <= a -> test l f -> expectation l P f <= a ->
  tradeoff l P Q a <= 1 - expectation l Q f.
Proof. intros Ha. apply (tradeoff_infimum a Ha). Qed.

Lemma tradeoff_greatest a c : 0 <= a ->
  (forall f, test l f -> expectation l P f <= a -> c <= 1 - expectation l Q f) ->
  c <= tradeoff l P Q a.
Proof. intros Ha. apply (tradeoff_infimum a Ha). Qed.

Lemma tradeoff_nonneg a : 0 <= a -> 0 <= tradeoff l P Q a.
Proof.
  intros Ha. apply tradeoff_greatest; auto. intros f T _.
  pose proof (expectation_bounds l Q f HQ T). lra.
Qed.

Lemma constant_test a : 0 <= a <= 1 -> test l (fun _ => a).
Proof. intros H x _. auto. Qed.

Lemma tradeoff_below_identity a : 0 <= a <= 1 -> tradeoff l P Q a <= 1 - a.
Proof.
  intros Ha. pose proof (tradeoff_below a (fun _ => a) (proj1 Ha) (constant_test a Ha)) as B.
  unfold expectation in B. rewrite !sum_scale_r in B.
  destruct HP as [_ SP], HQ as [_ SQ]. rewrite SP, SQ in B. lra.
Qed.

Lemma tradeoff_decreases a b : 0 <= a <= b -> tradeoff l P Q b <= tradeoff l P Q a.
Proof.
  intros H. apply tradeoff_greatest; [lra|]. intros f T S. apply tradeoff_below; auto; lra.
Qed.

(** Weak duality: every slope is a line below. *)
Lemma tradeoff_above_line a g : 0 <= a -> 0 <= g ->
  1 - HS l g Q P - g * a <= tradeoff l P Q a.
Proof.
  intros Ha Hg. apply tradeoff_greatest; auto. intros f T S.
  pose proof (test_below l Q P g f T).
  assert (g * expectation l P f <= g * a) by (apply Rmult_le_compat_l; auto). lra.
Qed.

(** * Neyman and Pearson *)

Definition strictly g (x : A) : R := if Rlt_dec (g * P x) (Q x) then 1 else 0.
Definition equally g (x : A) : R := if Req_EM_T (Q x) (g * P x) then 1 else 0.

Lemma strictly_test g : 0 <= g -> test l (strictly g).
Proof. intros _ x _. unfold strictly. destruct (Rlt_dec (g * P x) (Q x)); lra. Qed.

Lemma largest_number (G : list R) : G <> [] ->
  exists g, In g G /\ forall h, In h G -> h <= g.
Proof.
  induction G as [|g G IH]; [contradiction|]. intros _. destruct G as [|h G].
  - exists g. split; [left; auto|]. intros h [<-|[]]. lra.
  - destruct IH as [k [I M]]; [discriminate|]. destruct (Rle_dec k g) as [C|C].
    + exists g. split; [left; auto|]. intros j [<-|J]; [lra|]. pose proof (M j J). lra.
    + exists k. split; [right; auto|]. intros j [<-|J]; [lra|]. auto.
Qed.

Lemma least (G : list R) (p : R -> Prop) : (forall g, {p g} + {~ p g}) -> Exists p G ->
  exists g, In g G /\ p g /\ forall h, In h G -> h < g -> ~ p h.
Proof.
  intros dec. induction G as [|g G IH]; intros E; [inversion E|].
  destruct (Exists_dec p G dec) as [F|N].
  - destruct (IH F) as [k [Ik [Hk M]]]. destruct (dec g) as [Y|Y].
    + destruct (Rlt_dec g k) as [C|C].
      * exists g. split; [left; auto|]. split; auto. intros j [<-|J] C2; [lra|].
        apply M; auto. lra.
      * exists k. split; [right; auto|]. split; auto. intros j [<-|J] C2; [lra|]. auto.
    + exists k. split; [right; auto|]. split; auto. intros j [<-|J] C2; auto.
  - exists g. split; [left; auto|]. inversion E; subst; [|contradiction]. split; auto.
    intros j [<-|J] C Pj; [lra|]. apply N, Exists_exists. exists j. auto.
Qed.

Definition possible (x : A) : bool := if Rlt_dec 0 (P x) then true else false.
Definition ratios : list R := 0 :: map (fun x => Q x / P x) (filter possible l).

Lemma ratio_in x : In x l -> 0 < P x -> In (Q x / P x) ratios.
Proof.
  intros I H. right. apply in_map_iff. exists x. split; auto. apply filter_In. split; auto.
  unfold possible. destruct (Rlt_dec 0 (P x)); auto.
Qed.

Lemma ratio_nonneg g : In g ratios -> 0 <= g.
Proof.
  intros [<-|I]; [lra|]. apply in_map_iff in I as [x [<- J]]. apply filter_In in J as [J C].
  unfold possible in C. destruct (Rlt_dec 0 (P x)); [|discriminate].
  apply fraction_nonneg; auto. apply HQ; auto.
Qed.

Lemma ratio_compare x g : 0 < P x -> (g < Q x / P x <-> g * P x < Q x).
Proof.
  intros H. assert (E : Q x = Q x / P x * P x) by (field; lra). split; intros K.
  - rewrite E. apply Rmult_lt_compat_r; auto.
  - apply Rmult_lt_reg_r with (P x); auto. rewrite <- E. auto.
Qed.

(** A slope whose likelihood ratio test, randomized on the boundary, has size a. *)
Lemma threshold a : 0 <= a <= 1 -> exists g, 0 <= g /\
  expectation l P (strictly g) <= a <=
    expectation l P (fun x => strictly g x + equally g x).
Proof.
  intros Ha.
  destruct (least ratios (fun g => expectation l P (strictly g) <= a)) as [g [Ig [Hg M]]].
  - intros g. apply Rle_dec.
  - destruct (largest_number ratios) as [g [Ig M]]; [discriminate|].
    apply Exists_exists. exists g. split; auto.
    apply Rle_trans with 0; [|lra]. apply Req_le. transitivity (sum l (fun _ => 0));
      [|apply sum_zero]. apply sum_ext. intros x Hx. unfold strictly.
    destruct (Rlt_dec (g * P x) (Q x)) as [C|C]; [|ring].
    destruct HP as [NP _]. destruct (NP x Hx) as [p|<-]; [|ring].
    apply ratio_compare in C; auto. pose proof (M _ (ratio_in x Hx p)). lra.
  - exists g. pose proof (ratio_nonneg g Ig) as G0. split; auto. split; auto.
    destruct HP as [NP SP], HQ as [NQ SQ]. destruct G0 as [G0|<-].
    + destruct (largest_number (filter (fun h => if Rlt_dec h g then true else false) ratios))
        as [h [Ih Mh]].
      { intros E. assert (I : In 0 (filter (fun h => if Rlt_dec h g then true else false) ratios)).
        { apply filter_In. split; [left; auto|]. destruct (Rlt_dec 0 g); auto. }
        rewrite E in I. contradiction. }
      apply filter_In in Ih as [Ih C]. destruct (Rlt_dec h g) as [hg|]; [|discriminate].
      pose proof (M h Ih hg) as N. apply Rlt_le. eapply Rlt_le_trans; [apply Rnot_le_lt, N|].
      apply sum_le. intros x Hx. pose proof (NP x Hx) as [p|<-]; [|lra].
      apply Rmult_le_compat_l; [lra|]. unfold strictly, equally.
      destruct (Rlt_dec (h * P x) (Q x)) as [a1|a1], (Rlt_dec (g * P x) (Q x)) as [a2|a2],
        (Req_EM_T (Q x) (g * P x)) as [a3|a3]; try lra.
      exfalso. assert (Q x < g * P x) by lra. apply ratio_compare in a1; auto.
      assert (Q x / P x < g).
      { apply Rmult_lt_reg_r with (P x); auto. replace (Q x / P x * P x) with (Q x); [auto|].
        field. lra. }
      assert (Q x / P x <= h).
      { apply Mh. apply filter_In. split; [apply ratio_in; auto|].
        destruct (Rlt_dec (Q x / P x) g); auto. }
      lra.
    + apply Rle_trans with 1; [lra|]. rewrite <- SP. apply sum_le. intros x Hx.
      unfold strictly, equally. rewrite Rmult_0_l. pose proof (NQ x Hx). pose proof (NP x Hx).
      destruct (Rlt_dec 0 (Q x)), (Req_EM_T (Q x) 0); nra.
Qed.

(** The best test of size a: it rejects above a likelihood ratio g, and the line of slope -g
    through its errors supports the trade-off function. *)
Theorem neyman_pearson a : 0 <= a <= 1 -> exists g f, 0 <= g /\ test l f /\
  expectation l P f = a /\ 1 - expectation l Q f = 1 - HS l g Q P - g * a.
Proof.
  intros Ha. destruct (threshold a Ha) as [g [Hg [B C]]]. exists g.
  set (s := expectation l P (strictly g)) in *. set (b := expectation l P (equally g)).
  assert (E : expectation l P (fun x => strictly g x + equally g x) = s + b).
  { unfold s, b, expectation. rewrite <- sum_plus. apply sum_ext. intros. ring. }
  rewrite E in C.
  assert (T : exists t, 0 <= t <= 1 /\ s + t * b = a).
  { assert (0 <= b).
    { apply sum_nonneg. intros x Hx. apply Rmult_le_pos; [apply HP; auto|]. unfold equally.
      destruct (Req_EM_T (Q x) (g * P x)); lra. }
    destruct (Req_dec b 0) as [Z|Z].
    - exists 0. split; lra.
    - exists ((a - s) / b). split; [|field; auto]. split.
      + apply fraction_nonneg; lra.
      + apply Rmult_le_reg_r with b; [lra|]. replace ((a - s) / b * b) with (a - s); [lra|].
        field; auto. }
  destruct T as [t [Ht E2]]. exists (fun x => strictly g x + t * equally g x).
  assert (D : expectation l P (fun x => strictly g x + t * equally g x) = a).
  { rewrite <- E2. unfold s, b, expectation. rewrite <- sum_scale, <- sum_plus.
    apply sum_ext. intros. ring. }
  split; auto. split; [|split; auto].
  - intros x _. unfold strictly, equally.
    destruct (Rlt_dec (g * P x) (Q x)), (Req_EM_T (Q x) (g * P x)); lra.
  - rewrite <- D. unfold HS, expectation. rewrite <- sum_scale.
    assert (F : sum l (fun x => Q x * (strictly g x + t * equally g x)) =
      sum l (fun x => positive_part (Q x - g * P x)) +
      sum l (fun x => g * (P x * (strictly g x + t * equally g x)))); [|lra].
    rewrite <- sum_plus. apply sum_ext. intros x Hx. unfold strictly, equally.
    destruct (Rlt_dec (g * P x) (Q x)), (Req_EM_T (Q x) (g * P x)).
    + lra.
    + rewrite positive_part_of_nonneg; lra.
    + rewrite positive_part_of_nonpos by lra. rewrite e. ring.
    + rewrite positive_part_of_nonpos; lra.
Qed.

(** Strong duality, and the infimum is attained. *)
Corollary tradeoff_duality a : 0 <= a <= 1 ->
  exists g, 0 <= g /\ tradeoff l P Q a = 1 - HS l g Q P - g * a.
Proof.
  intros Ha. destruct (neyman_pearson a Ha) as [g [f [Hg [T [S E]]]]]. exists g. split; auto.
  apply Rle_antisym.
  - rewrite <- E. apply tradeoff_below; auto; lra.
  - apply tradeoff_above_line; lra.
Qed.

Corollary tradeoff_attained a : 0 <= a <= 1 ->
  exists f, test l f /\ expectation l P f = a /\ tradeoff l P Q a = 1 - expectation l Q f.
Proof.
  intros Ha. destruct (neyman_pearson a Ha) as [g [f [Hg [T [S E]]]]]. exists f.
  split; auto. split; auto. apply Rle_antisym.
  - apply tradeoff_below; auto; lra.
  - rewrite E. apply tradeoff_above_line; lra.
Qed.

Lemma tradeoff_at_1 : tradeoff l P Q 1 = 0.
Proof.
  apply Rle_antisym; [|apply tradeoff_nonneg; lra].
  pose proof (tradeoff_below_identity 1). lra.
Qed.

Theorem tradeoff_convex t a b : 0 <= t <= 1 -> 0 <= a <= 1 -> 0 <= b <= 1 ->
  tradeoff l P Q (t * a + (1 - t) * b) <= t * tradeoff l P Q a + (1 - t) * tradeoff l P Q b.
Proof.
  intros Ht Ha Hb. assert (M : 0 <= t * a + (1 - t) * b <= 1) by nra.
  destruct (tradeoff_duality _ M) as [g [Hg ->]].
  pose proof (tradeoff_above_line a g (proj1 Ha) Hg).
  pose proof (tradeoff_above_line b g (proj1 Hb) Hg).
  assert (t * (1 - HS l g Q P - g * a) <= t * tradeoff l P Q a)
    by (apply Rmult_le_compat_l; lra).
  assert ((1 - t) * (1 - HS l g Q P - g * b) <= (1 - t) * tradeoff l P Q b)
    by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** The divergence is the conjugate of the trade-off function. *)
Theorem HS_by_tradeoff g : 0 <= g ->
  (forall a, 0 <= a <= 1 -> 1 - tradeoff l P Q a - g * a <= HS l g Q P) /\
  (exists a, 0 <= a <= 1 /\ 1 - tradeoff l P Q a - g * a = HS l g Q P).
Proof.
  intros Hg. assert (W : forall a, 0 <= a <= 1 -> 1 - tradeoff l P Q a - g * a <= HS l g Q P).
  { intros a Ha. pose proof (tradeoff_above_line a g (proj1 Ha) Hg). lra. }
  split; auto. pose proof (strictly_test g Hg) as T.
  pose proof (expectation_bounds l P _ HP T) as B.
  exists (expectation l P (strictly g)). split; auto.
  apply Rle_antisym; [apply W; auto|].
  assert (E : HS l g Q P = expectation l Q (strictly g) - g * expectation l P (strictly g)).
  { unfold HS, expectation. rewrite <- sum_scale, <- sum_minus. apply sum_ext. intros x _.
    unfold strictly. destruct (Rlt_dec (g * P x) (Q x)).
    - rewrite positive_part_of_nonneg; lra.
    - rewrite positive_part_of_nonpos; lra. }
  rewrite E. pose proof (tradeoff_below _ _ (proj1 B) T (Rle_refl _)). lra.
Qed.
End Tests.

(** The order of trade-off functions is that of the divergences. *)
Theorem tradeoff_order {A B} (l : list A) (m : list B) P Q X Y :
  law l P -> law l Q -> law m X -> law m Y ->
  dominates l Q P m Y X <-> forall a, 0 <= a <= 1 -> tradeoff m X Y a >= tradeoff l P Q a.
Proof.
  intros HP HQ HX HY. split.
  - intros D a Ha. apply Rle_ge. destruct (tradeoff_duality l P Q HP HQ a Ha) as [g [Hg ->]].
    eapply Rle_trans; [|apply (tradeoff_above_line m X Y HY a g); lra].
    pose proof (D g Hg). lra.
  - intros T g Hg. destruct (HS_by_tradeoff m X Y HX HY g Hg) as [_ [a [Ha <-]]].
    destruct (HS_by_tradeoff l P Q HP HQ g Hg) as [U _]. specialize (U a Ha).
    pose proof (T a Ha). lra.
Qed.

Corollary tradeoff_kernel {A B} (l : list A) (m : list B) P Q K :
  law l P -> law l Q -> kernel l m K -> forall a, 0 <= a <= 1 ->
  tradeoff m (push l P K) (push l Q K) a >= tradeoff l P Q a.
Proof.
  intros HP HQ HK. apply tradeoff_order; auto using push_law. apply dominates_kernel; auto.
Qed.

(** Laws that are images of one another under kernels have one trade-off function. *)
Corollary tradeoff_same {A B} (l : list A) (m : list B) P Q X Y :
  law l P -> law l Q -> law m X -> law m Y ->
  (forall g, 0 <= g -> HS m g Y X = HS l g Q P) ->
  forall a, 0 <= a <= 1 -> tradeoff m X Y a = tradeoff l P Q a.
Proof.
  intros HP HQ HX HY E a Ha. apply Rle_antisym.
  - apply Rge_le. apply (tradeoff_order m l); auto. intros g Hg. rewrite E; lra.
  - apply Rge_le. apply (tradeoff_order l m); auto. intros g Hg. rewrite E; lra.
Qed.

(** The inverse is the trade-off function of the laws exchanged. *)
Theorem inverse_tradeoff {A} (l : list A) P Q : law l P -> law l Q ->
  forall a, 0 <= a <= 1 -> inverse (tradeoff l P Q) a = tradeoff l Q P a.
Proof.
  intros HP HQ a Ha.
  destruct (infimum (fun t => 0 <= t <= 1 /\ tradeoff l P Q t <= a) 0 1) as [B G].
  { rewrite tradeoff_at_1 by auto. lra. }
  { intros y [H _]. lra. }
  apply Rle_antisym.
  - destruct (tradeoff_attained l Q P HQ HP a Ha) as [f [T [S E]]].
    pose proof (expectation_bounds l P f HP T) as F.
    assert (T2 : test l (fun x => 1 - f x)) by (intros x Hx; pose proof (T x Hx); lra).
    apply B. rewrite E. split; [lra|].
    assert (0 <= 1 - expectation l P f) as N by lra.
    eapply Rle_trans; [apply (tradeoff_below l P Q HQ _ (fun x => 1 - f x) N T2)|].
    + rewrite expectation_not by auto. lra.
    + rewrite expectation_not by auto. lra.
  - apply G. intros t [Ht H]. destruct (tradeoff_attained l P Q HP HQ t Ht) as [f [T [S E]]].
    assert (T2 : test l (fun x => 1 - f x)) by (intros x Hx; pose proof (T x Hx); lra).
    eapply Rle_trans; [apply (tradeoff_below l Q P HP a (fun x => 1 - f x)); auto; try lra|].
    + rewrite expectation_not by auto. lra.
    + rewrite expectation_not by auto. lra.
Qed.

Lemma inverse_ext f g : (forall a, 0 <= a <= 1 -> f a = g a) -> forall a, inverse f a = inverse g a.
Proof.
  intros H a. unfold inverse. f_equal. apply Glb_Rbar_eqset. intros t.
  split; intros [Ht K]; split; auto; [rewrite <- H|rewrite H]; auto.
Qed.

(** * f_{eps, delta} *)

Lemma HS_mirror g E d : HS letters g (response1 E d) (response0 E d) =
  HS letters g (response0 E d) (response1 E d).
Proof. unfold HS. simpl. ring. Qed.

Section Approximate.
Context (E d : R).
Hypothesis (HE : 1 <= E) (Hd : 0 <= d <= 1).

Lemma approximate_tradeoff a : 0 <= a <= 1 ->
  tradeoff letters (response0 E d) (response1 E d) a = approximate E d a.
Proof.
  intros Ha. assert (L0 : law letters (response0 E d)) by (apply response0_law; lra).
  assert (L1 : law letters (response1 E d)) by (apply response1_law; lra).
  set (c := (1 - d) / (1 + E)).
  assert (C : c * (1 + E) = 1 - d) by (unfold c; field; lra).
  assert (C0 : 0 <= c) by (unfold c; apply fraction_nonneg; lra).
  assert (I : 0 < / E) by (apply Rinv_0_lt_compat; lra).
  assert (I1 : / E * E = 1) by (apply Rinv_l; lra). assert (I2 : / E <= 1) by nra.
  assert (W : E * ((1 - d - a) / E) = 1 - d - a) by (field; lra).
  unfold approximate. apply Rle_antisym.
  - destruct (tradeoff_duality letters _ _ L0 L1 a Ha) as [g [Hg ->]].
    rewrite HS_mirror, response_HS by auto. fold c.
    pose proof (Rmax_l 0 (Rmax (1 - d - E * a) ((1 - d - a) / E))).
    pose proof (Rmax_r 0 (Rmax (1 - d - E * a) ((1 - d - a) / E))).
    pose proof (Rmax_l (1 - d - E * a) ((1 - d - a) / E)).
    pose proof (Rmax_r (1 - d - E * a) ((1 - d - a) / E)).
    set (M := Rmax 0 (Rmax (1 - d - E * a) ((1 - d - a) / E))) in *.
    destruct (Rle_dec E g) as [K|K].
    { rewrite !positive_part_of_nonpos by nra. nra. }
    rewrite (positive_part_of_nonneg (E - g)) by lra.
    destruct (Rle_dec (g * E) 1) as [K2|K2].
    + rewrite positive_part_of_nonneg by lra.
      replace (1 - (d + c * (E - g + (1 - g * E))) - g * a)
        with (1 - d - c * (1 + E) + g * (c * (1 + E) - a)) by ring. rewrite C.
      assert (V : E * g * ((1 - d - a) / E) = g * (1 - d - a)) by (field; lra).
      destruct (Rle_dec 0 ((1 - d - a) / E)); nra.
    + rewrite positive_part_of_nonpos by nra.
      assert (U : 1 - d = c * (1 + E)) by lra. rewrite U in W.
      destruct (Rle_dec c a).
      * assert ((1 - d - a) / E * E >= (1 - (d + c * (E - g + 0)) - g * a) * E); [|nra].
        rewrite U. replace ((c * (1 + E) - a) / E * E) with (c * (1 + E) - a) by (field; lra). nra.
      * nra.
  - apply Rmax_lub; [|apply Rmax_lub].
    + apply tradeoff_nonneg; auto; lra.
    + pose proof (tradeoff_above_line letters (response0 E d) (response1 E d) L1 a E) as H.
      rewrite HS_mirror, response_HS, !positive_part_of_nonpos in H by nra. lra.
    + pose proof (tradeoff_above_line letters (response0 E d) (response1 E d) L1 a (/ E)) as H.
      rewrite HS_mirror, response_HS in H by lra.
      rewrite (positive_part_of_nonneg (E - / E)) in H by lra.
      rewrite positive_part_of_nonpos in H by lra. fold c in H.
      replace ((1 - d - a) / E) with (1 - (d + c * (E - / E + 0)) - / E * a); [apply H; lra|].
      replace (1 - (d + c * (E - / E + 0)) - / E * a)
        with (1 - d - c * (1 + E) * ((E - 1) / E) - / E * a) by (field; lra).
      rewrite C. field. lra.
Qed.

Context {A : Type} (l : list A) (P Q : A -> R).
Hypothesis (HP : law l P) (HQ : law l Q).

Theorem approximate_iff : HS l E P Q <= d /\ HS l E Q P <= d <->
  forall a, 0 <= a <= 1 -> tradeoff l P Q a >= approximate E d a.
Proof.
  assert (L0 : law letters (response0 E d)) by (apply response0_law; lra).
  assert (L1 : law letters (response1 E d)) by (apply response1_law; lra).
  assert (S : (forall a, 0 <= a <= 1 -> tradeoff l P Q a >= approximate E d a) <->
    dominates letters (response1 E d) (response0 E d) l Q P).
  { rewrite (tradeoff_order letters l (response0 E d) (response1 E d) P Q) by auto.
    split; intros H a Ha; [rewrite approximate_tradeoff|rewrite <- approximate_tradeoff]; auto. }
  rewrite S. split.
  - intros [H0 H1]. pose proof (response_dominates l Q P E d HQ HP HE Hd H1 H0) as D.
    intros g Hg. rewrite HS_mirror. auto.
  - intros D. assert (V : HS letters E (response0 E d) (response1 E d) = d).
    { rewrite response_HS, !positive_part_of_nonpos by nra. ring. }
    split.
    + apply dominates_reverse in D; auto. rewrite <- V. apply D. lra.
    + rewrite <- V, <- HS_mirror. apply D. lra.
Qed.
End Approximate.
