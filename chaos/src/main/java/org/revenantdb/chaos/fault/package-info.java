/**
 * The faults of file operations, and the classes that decide when they occur.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.fault.Fault} (the fault model), {@link
 * org.revenantdb.chaos.fault.FileOperation}, {@link org.revenantdb.chaos.fault.FaultInjector}; then
 * {@link org.revenantdb.chaos.fault.FaultPlan} of {@link org.revenantdb.chaos.fault.FaultRule}s,
 * {@link org.revenantdb.chaos.fault.DiskSpace} and {@link org.revenantdb.chaos.fault.DeadFrom};
 * apart from these, {@link org.revenantdb.chaos.fault.FailpointListener}.
 */
package org.revenantdb.chaos.fault;
