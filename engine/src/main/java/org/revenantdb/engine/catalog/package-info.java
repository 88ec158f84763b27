/**
 * The tables and sequences of a database: the catalogue's rows, their trees; creations, drops and
 * truncations, including unfinished ones (SLog); and blocks of sequences.
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
@NullMarked
package org.revenantdb.engine.catalog;

import org.jspecify.annotations.NullMarked;
