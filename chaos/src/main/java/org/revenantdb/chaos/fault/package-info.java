/**
 * What may go wrong with an operation on a file, and who decides.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.fault.Fault} (the fault model), {@link
 * org.revenantdb.chaos.fault.FileOperation}, {@link org.revenantdb.chaos.fault.FaultInjector}.
 */
package org.revenantdb.chaos.fault;
