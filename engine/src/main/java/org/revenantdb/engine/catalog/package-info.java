/**
 * The tables and sequences of a database: the catalogue's rows, their trees; creations, drops and
 * truncations, including unfinished ones (SLog); and blocks of sequences.
 */
@NullMarked
package org.revenantdb.engine.catalog;

import org.jspecify.annotations.NullMarked;
