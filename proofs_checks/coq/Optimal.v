(** Optimal composition in the notation of statements, and steps of different strength. *)
Require Import Reals Lra Lia List Bool Psatz ZArith Binomial.
From DPExact Require Import Finite Response Gaussian Analysis Losses Composing Testing Tradeoff Terms.
Import ListNotations.
Open Scope R_scope.

Lemma next_row_nth r : forall last n,
  nth n (next_row last r) 0%Z = ((match n with O => last | S j => nth j r 0 end) + nth n r 0)%Z.
Proof.
  induction r as [|c t IH]; intros last n; simpl.
  - destruct n as [|[|n]]; simpl; lia.
  - destruct n as [|n]; simpl; auto.
Qed.

Lemma pascal_nth k : forall n, nth n (Response.pascal k) 0%Z = Z.of_nat (choose k n).
Proof.
  induction k; intros n.
  - destruct n as [|[|n]]; auto.
  - simpl Response.pascal. rewrite next_row_nth, !IHk. destruct n as [|n].
    + rewrite choose_0. auto.
    + rewrite !IHk. simpl choose. lia.
Qed.

Lemma weighted_sum row : forall i j f, weighted row i j f =
  sum (seq 0 (length row)) (fun n => IZR (nth n row 0%Z) * f (i + n)%nat (j - n)%nat).
Proof.
  induction row as [|c t IH]; intros i j f; [auto|].
  simpl weighted. simpl length. simpl seq. simpl sum. rewrite IH.
  rewrite Nat.add_0_r, Nat.sub_0_r. f_equal. rewrite <- seq_shift, sum_map.
  apply sum_ext. intros n _. simpl nth. f_equal. f_equal; lia.
Qed.

Lemma sum_reverse k f : sum (seq 0 (S k)) f = sum (seq 0 (S k)) (fun l => f (k - l)%nat).
Proof.
  induction k in f |- *; [auto|].
  transitivity (sum (seq 0 (S k)) f + f (S k)).
  { rewrite (seq_S (S k)), sum_app. simpl. ring. }
  rewrite IHk. symmetry. transitivity (f (S k) + sum (seq 1 (S k)) (fun l => f (S k - l)%nat)).
  { reflexivity. }
  rewrite <- seq_shift, sum_map. rewrite Rplus_comm. f_equal. 
Qed.

Lemma words_length {A} (l : list A) k : forall w, In w (words l k) -> length w = k.
Proof.
  induction k; simpl; intros w H.
  - destruct H as [<-|[]]. auto.
  - apply in_map_iff in H as [[h b] [<- I]]. apply in_prod_iff in I as [I _]. simpl. auto.
Qed.

Lemma equal_steps_laws E d k w : 0 < E -> length w = k ->
  law0 (repeat (Step (ln E) d) k) w = power (response0 E d) w /\
  law1 (repeat (Step (ln E) d) k) w = power (response1 E d) w.
Proof.
  intros HE. revert w. induction k; intros [|x w] H; simpl in *; try lia; [split; auto|].
  destruct (IHk w) as [H0 H1]; [lia|]. unfold growth. simpl. rewrite exp_ln, H0, H1 by auto. auto.
Qed.

(** E stands for e^eps, F for e^e. *)
Theorem equal_steps E d k F : 1 <= E -> 0 <= d <= 1 -> 0 <= F ->
  HS (words letters k) F (power (response0 E d)) (power (response1 E d)) =
  1 - (1 - d) ^ k * (1 - sum (seq 0 (S k)) (fun l =>
    INR (choose k l) * Rmax 0 (E ^ l - F * E ^ (k - l))) / (1 + E) ^ k).
Proof.
  intros HE Hd HF. set (s := Step (ln E) d).
  assert (V : valid s).
  { split; simpl; auto. rewrite <- ln_1. destruct HE as [HE|<-]; [|lra].
    left. apply ln_increasing; lra. }
  transitivity (HS (outcomes (expand [Group s k])) F (law0 (expand [Group s k]))
    (law1 (expand [Group s k]))).
  - simpl expand. rewrite app_nil_r. unfold outcomes. rewrite repeat_length.
    apply HS_ext; intros w Hw; apply words_length in Hw;
      destruct (equal_steps_laws E d k w) as [H0 H1]; auto; lra.
  - rewrite optimal_composition by auto. cbn [closed_form each times]. unfold growth, s.
    cbn [epsilon delta]. rewrite exp_ln by lra. rewrite weighted_sum, pascal_length.
    assert (N : (1 + E) ^ k <> 0) by (apply pow_nonzero; lra).
    unfold Rdiv at 1. rewrite Rpow_mult_distr. rewrite pow_inv.
    assert (S0 : sum (seq 0 (S k)) (fun n => IZR (nth n (Response.pascal k) 0%Z) *
        positive_part (1 * E ^ (0 + n) - F * E ^ (k - n))) =
      sum (seq 0 (S k)) (fun l => INR (choose k l) * Rmax 0 (E ^ l - F * E ^ (k - l)))).
    { apply sum_ext. intros l _. rewrite pascal_nth, <- INR_IZR_INZ, Rmult_1_l. auto. }
    rewrite S0. field. auto.
Qed.

Lemma power_of_difference E i j : 1 <= E -> (j <= i)%nat ->
  exp ((INR i + (- 1) * INR j) * ln E) = E ^ (i - j).
Proof.
  intros HE H. rewrite <- (exp_ln E) at 2 by lra. rewrite exp_pow. f_equal.
  rewrite minus_INR by auto. ring.
Qed.

(** At e = (k - 2 i) eps: the terms l < i remain. *)
Theorem equal_steps_branch E d k i : 1 <= E -> 0 <= d <= 1 -> (2 * i <= k)%nat ->
  HS (words letters k) (E ^ (k - 2 * i)) (power (response0 E d)) (power (response1 E d)) =
  1 - (1 - d) ^ k * (1 - sum (seq 0 i) (fun l =>
    INR (choose k l) * (E ^ (k - l) - E ^ (k - 2 * i + l))) / (1 + E) ^ k).
Proof.
  intros HE Hd Hi. rewrite equal_steps; auto; [|apply pow_le; lra]. do 4 f_equal.
  rewrite sum_reverse. replace (S k) with (i + (S k - i))%nat by lia.
  rewrite seq_app, sum_app.
  assert (Z : sum (seq (0 + i) (S k - i)) (fun l => INR (choose k (k - l)) *
    Rmax 0 (E ^ (k - l) - E ^ (k - 2 * i) * E ^ (k - (k - l)))) = 0).
  { transitivity (sum (seq (0 + i) (S k - i)) (fun _ => 0)); [|apply sum_zero].
    apply sum_ext. intros l Hl. apply in_seq in Hl. rewrite <- pow_add.
    rewrite Rmax_left; [ring|].
    assert (E ^ (k - l) <= E ^ (k - 2 * i + (k - (k - l)))) by (apply Rle_pow; auto; lia). lra. }
  rewrite Z, Rplus_0_r. apply sum_ext. intros l Hl. apply in_seq in Hl.
  rewrite <- choose_mirror by lia. f_equal. rewrite <- pow_add.
  replace (k - (k - l))%nat with l by lia. apply Rmax_right.
  assert (E ^ (k - 2 * i + l) <= E ^ (k - l)) by (apply Rle_pow; auto; lia). lra.
Qed.

(** Every adaptive composition of equal steps. *)
Theorem equal_adaptive {B} (m : list B) k X Y E d : 1 <= E -> 0 <= d <= 1 ->
  steps_of m X -> steps_of m Y ->
  (forall h, In (length h) (seq 0 k) -> In h (words m (length h)) ->
     HS m E (X h) (Y h) <= d /\ HS m E (Y h) (X h) <= d) ->
  adaptive (repeat (Step (ln E) d) k) m X Y.
Proof.
  intros HE Hd HX HY H. induction k; simpl; auto. split.
  - apply IHk. intros h I. apply H. apply in_seq in I. apply in_seq. lia.
  - intros h I. rewrite repeat_length in I. pose proof (words_length m k h I) as L.
    split; [apply HX|split; [apply HY|]].
    destruct (H h) as [H0 H1].
    + apply in_seq. lia.
    + rewrite L. auto.
    + split; apply close_iff_HS; simpl; rewrite exp_ln by lra; auto.
Qed.

Lemma worst_steps {B} (m : list B) k X Y E d :
  largest (seq 0 k) (fun j => largest (words m j) (fun h => HS m E (X h) (Y h))) <= d ->
  forall h, In (length h) (seq 0 k) -> In h (words m (length h)) -> HS m E (X h) (Y h) <= d.
Proof.
  intros H h I W. pose proof (largest_below _ _ _ H (length h) I) as K. cbv beta in K.
  exact (largest_below _ _ _ K h W).
Qed.

Lemma branch_power E k i : 1 <= E -> (2 * i <= k)%nat ->
  exp ((INR k + (- 1) * (2 * INR i)) * ln E) = E ^ (k - 2 * i).
Proof.
  intros HE H. rewrite <- power_of_difference by auto. do 4 f_equal.
  rewrite mult_INR. simpl. ring.
Qed.

Lemma branch_sum E k i : 1 <= E -> (2 * i <= k)%nat ->
  sum (seq 0 i) (fun l => INR (choose k l) * (exp ((INR k + (- 1) * INR l) * ln E) +
    (- 1) * exp ((INR k + (- 1) * (2 * INR i) + INR l) * ln E))) =
  sum (seq 0 i) (fun l => INR (choose k l) * (E ^ (k - l) - E ^ (k - 2 * i + l))).
Proof.
  intros HE H. apply sum_ext. intros l Hl. apply in_seq in Hl.
  rewrite power_of_difference by (auto; lia). rewrite Rmult_plus_distr_r, exp_plus, branch_power
    by auto. rewrite <- exp_pow, exp_ln, pow_add by lra. ring.
Qed.

Lemma twice_below i k : 2 * INR i <= INR k -> (2 * i <= k)%nat.
Proof. intros H. apply INR_le. rewrite mult_INR. simpl. lra. Qed.

Fixpoint multiplied {A} (l : list A) (f : A -> R) : R :=
  match l with [] => 1 | a :: t => f a * multiplied t f end.

Fixpoint steps (e d : nat -> R) (k : nat) : list step :=
  match k with O => [] | S j => Step (e j) (d j) :: steps e d j end.

Lemma steps_length e d k : length (steps e d k) = k.
Proof. induction k; simpl; auto. Qed.

Lemma steps_sum e d k f : sum (steps e d k) f = sum (seq 0 k) (fun j => f (Step (e j) (d j))).
Proof. induction k; [auto|]. rewrite seq_S, sum_app, <- IHk. simpl. ring. Qed.

Lemma multiplied_app {A} (l m : list A) f : multiplied (l ++ m) f = multiplied l f * multiplied m f.
Proof. induction l; simpl; [ring|]. rewrite IHl. ring. Qed.

Lemma steps_kept e d k : kept (steps e d k) = multiplied (seq 0 k) (fun j => 1 + (- 1) * d j).
Proof. induction k; [auto|]. rewrite seq_S, multiplied_app, <- IHk. simpl. ring. Qed.

Lemma steps_valid e d k : (forall i, 0 <= e i) -> (forall i, 0 <= d i) -> (forall i, d i <= 1) ->
  List.Forall valid (steps e d k).
Proof. intros. induction k; simpl; constructor; auto. split; simpl; auto. Qed.

Lemma steps_adaptive {B} (m : list B) X Y e d k : steps_of m X -> steps_of m Y ->
  largest (seq 0 k) (fun j => largest (words m j) (fun h => HS m (exp (e j)) (X h) (Y h)) +
    (- 1) * d j) <= 0 ->
  largest (seq 0 k) (fun j => largest (words m j) (fun h => HS m (exp (e j)) (Y h) (X h)) +
    (- 1) * d j) <= 0 ->
  adaptive (steps e d k) m X Y.
Proof.
  intros HX HY H0 H1.
  pose proof (largest_below _ _ _ H0) as K0. pose proof (largest_below _ _ _ H1) as K1.
  cbv beta in K0, K1. clear H0 H1. induction k; simpl; auto. split.
  - apply IHk; intros j I; [apply K0|apply K1]; apply in_seq in I; apply in_seq; lia.
  - intros h I. rewrite steps_length in I.
    split; [apply HX|split; [apply HY|]].
    assert (J : In k (seq 0 (S k))) by (apply in_seq; lia). split; apply close_iff_HS; simpl.
    + assert (L : largest (words m k) (fun h => HS m (exp (e k)) (X h) (Y h)) <= d k)
        by (specialize (K0 k J); lra). exact (largest_below _ _ _ L h I).
    + assert (L : largest (words m k) (fun h => HS m (exp (e k)) (Y h) (X h)) <= d k)
        by (specialize (K1 k J); lra). exact (largest_below _ _ _ L h I).
Qed.

Lemma equal_worst_steps {B} (m : list B) X Y x d k : 0 <= x -> 0 <= d <= 1 ->
  steps_of m X -> steps_of m Y ->
  largest (seq 0 k) (fun j => largest (words m j) (fun h => HS m (exp x) (X h) (Y h))) <= d ->
  largest (seq 0 k) (fun j => largest (words m j) (fun h => HS m (exp x) (Y h) (X h))) <= d ->
  adaptive (repeat (Step x d) k) m X Y.
Proof.
  intros Hx Hd HX HY H0 H1. rewrite <- (ln_exp x). apply equal_adaptive; auto.
  - apply exp_at_least_1. auto.
  - intros h I W. split; [apply (worst_steps m k X Y)|apply (worst_steps m k Y X)]; auto.
Qed.

(** Equal adaptive steps against randomized responses. *)
Lemma equal_dominates {B} (m : list B) X Y E d k F : 1 <= E -> 0 <= d <= 1 -> 0 <= F ->
  adaptive (repeat (Step (ln E) d) k) m X Y ->
  HS (words m k) F (run X) (run Y) <=
    HS (words letters k) F (power (response0 E d)) (power (response1 E d)).
Proof.
  intros HE Hd HF D.
  assert (V : List.Forall valid (repeat (Step (ln E) d) k)).
  { apply repeat_valid; auto. rewrite <- ln_1. destruct HE as [HE|<-]; [|lra].
    left. apply ln_increasing; lra. }
  pose proof (composition_dominates _ m X Y V D F HF) as H. rewrite repeat_length in H.
  eapply Rle_trans; [exact H|]. apply Req_le. unfold outcomes. rewrite repeat_length.
  apply HS_ext; intros w Hw; apply words_length in Hw;
    destruct (equal_steps_laws E d k w) as [H0 H1]; auto; lra.
Qed.

(** Advanced composition with the squares of the steps in place of their drift. *)
Lemma steps_advanced {B} (m : list B) X Y e d s k : (0 < k)%nat -> (forall i, 0 < e i) ->
  (forall i, 0 <= d i) -> (forall i, d i <= 1) -> 0 < s <= 1 -> adaptive (steps e d k) m X Y ->
  HS (words m k) (exp (sum (seq 0 k) (fun j => e j ^ 2) / 2 +
    sqrt (2 * ln (/ s) * sum (seq 0 k) (fun j => e j ^ 2)))) (run X) (run Y)
    <= s + sum (seq 0 k) d.
Proof.
  intros I He H0 H1 Hs D.
  assert (V : List.Forall valid (steps e d k)) by (apply steps_valid; auto; intros; left; auto).
  assert (S : squares (steps e d k) = sum (seq 0 k) (fun j => e j ^ 2)).
  { unfold squares. rewrite steps_sum. apply sum_ext. intros. simpl. ring. }
  assert (Q : 0 < squares (steps e d k)).
  { rewrite S. apply Rlt_le_trans with (e 0%nat ^ 2); [apply pow_lt; auto|].
    apply (sum_above _ (fun j => e j ^ 2)); [|apply in_seq; lia].
    intros. apply pow_le. left; auto. }
  pose proof (advanced_composition m _ X Y s V D Hs Q) as T.
  destruct (adaptive_laws _ m X Y D) as [L0 L1]. rewrite steps_length in *.
  apply close_iff_HS. rewrite <- S.
  refine (close_weaker _ _ _ _ _ _ _ L1 _ _ (proj1 T)).
  - pose proof (drift_below_squares _ V). lra.
  - pose proof (kept_above _ V) as K. pose proof (kept_bounds _ V).
    unfold total_delta in K. rewrite steps_sum in K.
    change (1 - sum (seq 0 k) d <= kept (steps e d k)) in K.
    assert (kept (steps e d k) * s <= 1 * s) by (apply Rmult_le_compat_r; lra). lra.
Qed.
