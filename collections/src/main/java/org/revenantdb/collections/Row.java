package org.revenantdb.collections;

/**
 * A copy of a row of a table. It does not change.
 *
 * @param key the key
 * @param value the value
 * @param <K> type of the key
 * @param <V> type of the value
 */
public record Row<K, V>(K key, V value) {}
