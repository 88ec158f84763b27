/**
 * Codecs of values. Reading order: {@code Simple}, {@code RecordFormat} (the bytes of a record),
 * {@code RecordBody}, {@code Components} (those of its components).
 */
package org.revenantdb.collections.value;
