/**
 * Serializable transactions: what they have read, what has been committed since, and the order of
 * commits (docs/protocols.md §34).
 */
package org.revenantdb.engine.serial;
