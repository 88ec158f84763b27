/**
 * Process death, by SIGKILL to a forked JVM.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.crash.ForkedJvm} (the parent's side), {@link
 * org.revenantdb.chaos.crash.ChildPipe} (the child's side, and why its lines are a ledger), {@link
 * org.revenantdb.chaos.crash.KillPoint} (the moment), {@link org.revenantdb.chaos.crash.Seeds},
 * {@link org.revenantdb.chaos.crash.StallWatch} (what a hang is), {@link
 * org.revenantdb.chaos.crash.Watchdog}; then, for any {@link
 * org.revenantdb.chaos.subject.CrashSubject}, {@link org.revenantdb.chaos.crash.ProcessDeathRun}
 * (the run), {@code StoreLine} (one store and its lives), {@code LifeWatch} (the parent's side of a
 * life), {@code Life} (the child's), {@code ZombieRound}.
 */
package org.revenantdb.chaos.crash;
