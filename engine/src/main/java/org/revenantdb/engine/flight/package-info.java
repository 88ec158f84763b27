/**
 * What the engine reports to the flight recorder of the JDK. Reading order: {@code FlightEvents},
 * then the events. Waits and phases of restarts are reported by {@code lifecycle}.
 */
package org.revenantdb.engine.flight;
