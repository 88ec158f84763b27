/**
 * The log while it runs: records are built, put into a ring, and written and forced by one thread.
 *
 * <p>Reading order: {@link org.revenantdb.recovery.log.RecordBuilder}, {@link
 * org.revenantdb.recovery.log.Log}, then the ring (LogBuffer), the thread (LogWriter), and {@link
 * org.revenantdb.recovery.log.RecoverySpace}, which limits the work that writers leave for a
 * restart.
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
package org.revenantdb.recovery.log;
