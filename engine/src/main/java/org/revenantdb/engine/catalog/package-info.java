/**
 * Which tables and sequences there are: the catalogue's rows, their trees, creations, drops and
 * truncations with what of them is unfinished (SLog), and blocks of sequences.
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
@NullMarked
package org.revenantdb.engine.catalog;

import org.jspecify.annotations.NullMarked;
