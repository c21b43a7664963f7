Require Import Reals Lra Lia List Bool Psatz.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From DPExact Require Import Finite Response Sampling Gaussian Analysis Losses Composing Testing.
From DPExact Require Import Tradeoff Terms Optimal Moments.
Import ListNotations.
Open Scope R_scope.

(** * slides.postprocessing | kernels between finite sets *)
Theorem slides_postprocessing {A B} (l : list A) (m : list B) K P0 P1 f : kernel l m K ->
  law l P1 -> tradeoff_above l P0 P1 f -> tradeoff_above m (push l P0 K) (push l P1 K) f.
Proof. intros HK L H md fa R0. apply H. apply (region_kernel l m K P0 P1); auto. Qed.

(** * slides.epsdelta_equiv | pairs of laws on finite sets *)
(** f_eps_delta eps delta a = max(0, 1 - delta - e^eps a, e^-eps (1 - delta - a)). *)
Theorem slides_epsdelta_equiv {A} (l : list A) P0 P1 eps delta : law l P0 -> law l P1 ->
  dp l eps delta P0 P1 <-> tradeoff_above l P0 P1 (f_eps_delta eps delta).
Proof. apply dp_by_tradeoff. Qed.

(** * slides.epsdelta_two_sided | pairs of laws on finite sets *)
Theorem slides_epsdelta_two_sided {A} (l : list A) P Q eps delta :
  dp l eps delta P Q <-> forall S,
    exp (- eps) * probability l Q S - exp (- eps) * delta <= probability l P S <=
    exp eps * probability l Q S + delta.
Proof.
  pose proof (exp_pos eps). pose proof (exp_pos (- eps)).
  assert (I : exp (- eps) * exp eps = 1).
  { rewrite <- exp_plus. replace (- eps + eps) with 0 by ring. apply exp_0. }
  split.
  - intros [D E] S. split; [|apply D]. pose proof (E S) as K.
    apply (Rmult_le_compat_l (exp (- eps))) in K; [|lra].
    rewrite Rmult_plus_distr_l, <- Rmult_assoc, I in K. lra.
  - intros K. split; intros S; destruct (K S) as [K0 K1]; [lra|].
    apply (Rmult_le_compat_l (exp eps)) in K0; [|lra].
    replace (exp eps * (exp (- eps) * probability l Q S - exp (- eps) * delta))
      with (exp (- eps) * exp eps * (probability l Q S - delta)) in K0 by ring.
    rewrite I in K0. lra.
Qed.

(** * slides.count_query | finite databases, one record added or removed *)
Theorem slides_count_query {A} (p : A -> bool) (left right : list A) x :
  let count d := length (filter p d) in
  (count (left ++ right) <= count (left ++ x :: right) <= count (left ++ right) + 1)%nat.
Proof.
  intros count. unfold count. rewrite !filter_app, !app_length. simpl.
  destruct (p x); simpl; lia.
Qed.

(** * slides.e71 | as stated, rounded to one decimal *)
Theorem slides_e71 : 1211.95 <= exp 7.1 <= 1212.05.
Proof. interval. Qed.

(** * slides.census_table.US | the corrected statement *)
(** 13.9 percent fails for every pair that rounds to 69.40 and 54.74; 21.1 percent is right. *)
Theorem slides_census_table_US :
  (forall before after, 69.395 <= before <= 69.405 -> 54.735 <= after <= 54.745 ->
     21.11 <= 100 * (1 - after / before)) /\
  21.05 <= 100 * (1 - 54.74 / 69.40) <= 21.15.
Proof.
  split; [|split; lra]. intros before after B C.
  assert (after / before <= 0.7889); [|lra]. apply Rmult_le_reg_r with before; [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(** * slides.census_table.State | as stated, rounded to 1/10 percent *)
Theorem slides_census_table_State : 14.95 <= 100 * (1 - 4.25 / 5.00) <= 15.05.
Proof. split; lra. Qed.

(** * slides.census_table.County | as stated, rounded to 1/10 percent *)
Theorem slides_census_table_County : 17.75 <= 100 * (1 - 13.21 / 16.07) <= 17.85.
Proof. split; lra. Qed.

(** * slides.census_table.PEPG | as stated, rounded to 1/10 percent *)
Theorem slides_census_table_PEPG : 16.75 <= 100 * (1 - 8.71 / 10.47) <= 16.85.
Proof. split; lra. Qed.

(** * slides.census_table.TractSubsetGroup | as stated, rounded to 1/10 percent *)
Theorem slides_census_table_TractSubsetGroup : 16.75 <= 100 * (1 - 8.71 / 10.47) <= 16.85.
Proof. split; lra. Qed.

(** * slides.census_table.TractSubset | as stated, rounded to 1/10 percent *)
Theorem slides_census_table_TractSubset : 15.25 <= 100 * (1 - 4.89 / 5.77) <= 15.35.
Proof. split; lra. Qed.

(** * slides.census_table.OptBlockGroup | as stated, rounded to 1/10 percent *)
Theorem slides_census_table_OptBlockGroup : 16.75 <= 100 * (1 - 8.71 / 10.47) <= 16.85.
Proof. split; lra. Qed.

(** * slides.census_table.Block | as stated, rounded to 1/10 percent *)
Theorem slides_census_table_Block : 24.95 <= 100 * (1 - 338.28 / 451.13) <= 25.05.
Proof. split; lra. Qed.

(** * slides.proof.L | finite sets, independent steps *)
(** The loss of a product is the sum of the losses. *)
Theorem slides_proof_L {A} (l : list A) (P Q : list A -> A -> R) k :
  (forall h, positive_law l (P h)) -> (forall h, positive_law l (Q h)) ->
  forall w, In w (words l k) ->
  ln (run Q w / run P w) =
    (fix total w := match w with [] => 0 | b :: h => total h + ln (Q h b / P h b) end) w.
Proof.
  intros HP HQ. 
  assert (N : forall k w, In w (words l k) -> 0 < run P w /\ 0 < run Q w).
  { induction k0; simpl; intros w H.
    - destruct H as [<-|[]]. simpl. lra.
    - apply in_map_iff in H as [[h b] [<- I]]. apply in_prod_iff in I as [Ih Ib]. simpl.
      destruct (IHk0 h Ih). destruct (HP h) as [NP _], (HQ h) as [NQ _].
      split; apply Rmult_lt_0_compat; auto. }
  induction k as [|k IH]; simpl; intros w H.
  - destruct H as [<-|[]]. simpl. replace (1 / 1) with 1 by field. apply ln_1.
  - apply in_map_iff in H as [[h b] [<- I]]. apply in_prod_iff in I as [Ih Ib]. simpl.
    rewrite <- IH by auto. destruct (N k h Ih). destruct (HP h) as [NP _], (HQ h) as [NQ _].
    specialize (NP b Ib). specialize (NQ b Ib).
    rewrite <- ln_mult by (apply Rdiv_lt_0_compat; auto). f_equal. field. lra.
Qed.
