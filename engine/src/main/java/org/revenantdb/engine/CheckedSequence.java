package org.revenantdb.engine;

/**
 * What a check found of one sequence.
 *
 * @param name its name
 * @param reserved how many of its values may have been given out; the next open goes on behind them
 * @param values how many it has, all in all
 */
public record CheckedSequence(String name, long reserved, long values) {}
