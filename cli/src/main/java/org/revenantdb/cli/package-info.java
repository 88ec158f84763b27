/**
 * The command {@code revenant} for administrators: looks at a database, changes single rows, dumps
 * and loads it, at a shell or as single commands.
 *
 * <p>It works over the public API. The verbs that read files as they are ({@code check}, {@code
 * page}, {@code stat}, {@code backup}, {@code verify}) belong to the engine, and this command joins
 * them.
 *
 * <p>Reading order: {@code Main}; {@code Session}, which opens a database for a verb; one class per
 * verb; {@code Notation}, how keys and values are written; {@code TextDump} and {@code BinaryDump},
 * the two forms of a dump; {@code Shell}.
 */
package org.revenantdb.cli;
