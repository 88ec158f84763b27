package org.revenantdb.engine;

/**
 * The result of a check for one sequence.
 *
 * @param name its name
 * @param reserved how many of its values may have been returned; the next open continues after them
 * @param values number of values of the whole sequence
 */
public record CheckedSequence(String name, long reserved, long values) {}
