/**
 * Serializable transactions: their reads, the commits since, and the order of commits
 * (docs/protocols.md §34).
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
package org.revenantdb.engine.serial;
