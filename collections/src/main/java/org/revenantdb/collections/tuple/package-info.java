/**
 * The encoding of keys: the elements of FoundationDB's tuple layer, and a few of our own.
 *
 * <p>Reading order: {@code TypeCode} (the table), {@code Integers}, {@code Decimals}, {@code
 * Element}, {@code Descending}, {@code OrNull}, {@code Parts}. The {@code README.md} of the module
 * has the encoding, and where it differs.
 */
package org.revenantdb.collections.tuple;
