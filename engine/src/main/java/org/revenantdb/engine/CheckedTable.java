package org.revenantdb.engine;

/**
 * The counts of a check for one table.
 *
 * @param name its name
 * @param rows rows in its leaves, including deleted and uncommitted ones
 * @param visibleRows rows that a transaction sees if it begins at the moment of the check
 * @param levels levels of its tree, 1 for a single leaf; 0 if its root cannot be read. With
 *     partitions, the levels of the highest tree
 * @param treePages pages of its tree, or trees
 * @param overflowPages pages of the large values of its rows
 * @param versionBytes bytes in its leaves for versions before the current ones. The value of a
 *     deleted row belongs to the row itself and does not count
 */
public record CheckedTable(
    String name,
    long rows,
    long visibleRows,
    int levels,
    long treePages,
    long overflowPages,
    long versionBytes) {}
