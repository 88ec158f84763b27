package org.revenantdb.engine;

/**
 * What a check counted in one table.
 *
 * @param name its name
 * @param rows rows in its leaves, whatever versions they have
 * @param visibleRows those of them that a transaction which began at the moment of the check sees
 * @param levels levels of its tree, 1 for a single leaf; 0 if its root cannot be read; of a table
 *     with partitions, of the highest of its trees
 * @param treePages pages of its tree, or trees
 * @param overflowPages pages of large values that its rows lead to
 * @param versionBytes bytes that rows take in its leaves for the versions before their current
 *     ones; the value of a deleted row is the row itself, and does not count
 */
public record CheckedTable(
    String name,
    long rows,
    long visibleRows,
    int levels,
    long treePages,
    long overflowPages,
    long versionBytes) {}
