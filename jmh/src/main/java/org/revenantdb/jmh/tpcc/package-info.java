/**
 * TPC-C: the five transactions of an order-entry system, in the standard mix, over nine tables and
 * two indexes that are ordinary tables. Every TPC-C figure uses this implementation.
 *
 * <p>Source: TPC Benchmark C, Standard Specification, revision 5.11. What differs from it, and why,
 * is in {@code jmh/README.md}.
 *
 * <p>Reading order: {@link org.revenantdb.jmh.tpcc.TpccScale}, {@code TpccRows} and {@code
 * TpccKeys}, the bytes; {@link org.revenantdb.jmh.tpcc.TpccTables}; {@link
 * org.revenantdb.jmh.tpcc.TpccLoader}; {@code NewOrder} and the other four; {@link
 * org.revenantdb.jmh.tpcc.TpccMix}; {@link org.revenantdb.jmh.tpcc.TpccDriver}; {@link
 * org.revenantdb.jmh.tpcc.TpccChecker}; {@link org.revenantdb.jmh.tpcc.ChQuery} and {@link
 * org.revenantdb.jmh.tpcc.ChReader}, which analyse the same tables meanwhile.
 */
@NullMarked
package org.revenantdb.jmh.tpcc;

import org.jspecify.annotations.NullMarked;
