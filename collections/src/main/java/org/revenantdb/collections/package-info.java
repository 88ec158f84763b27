/**
 * Typed tables over the engine: keys and values of Java types, maps and indexes.
 *
 * <p>The package uses the public API of {@code org.revenantdb.engine} only. Reading order: {@link
 * org.revenantdb.collections.KeyCodec}, {@link org.revenantdb.collections.Keys}, {@link
 * org.revenantdb.collections.Codec}, {@link org.revenantdb.collections.Codecs}, {@link
 * org.revenantdb.collections.TypedTable}. The bytes of keys are described in the package {@code
 * tuple}, those of records in {@code value}.
 */
package org.revenantdb.collections;
