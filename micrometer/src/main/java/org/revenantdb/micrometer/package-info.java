/**
 * The statistics of a database as meters of Micrometer, for Prometheus and every other registry.
 *
 * <p>{@link org.revenantdb.micrometer.RevenantMetrics} binds them. It has no list of statistics: it
 * takes names, kinds and units from {@link org.revenantdb.engine.Statistic} and {@link
 * org.revenantdb.engine.WaitClass}.
 */
package org.revenantdb.micrometer;
