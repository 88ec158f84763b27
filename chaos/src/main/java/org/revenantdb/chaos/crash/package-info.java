/**
 * Crashes. For now one kind: the death of a process, by SIGKILL to a forked JVM.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.crash.ForkedJvm} (the parent's side), {@link
 * org.revenantdb.chaos.crash.ChildPipe} (the child's side, and why what it said is a ledger),
 * {@link org.revenantdb.chaos.crash.KillPoint} (when), {@link org.revenantdb.chaos.crash.Seeds},
 * {@link org.revenantdb.chaos.crash.Watchdog}.
 */
package org.revenantdb.chaos.crash;
