/**
 * Serializable transactions: their reads, the commits since, and the order of commits
 * (docs/protocols.md §34).
 */
package org.revenantdb.engine.serial;
