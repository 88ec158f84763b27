/**
 * One value far larger than the heap: {@link org.revenantdb.chaos.revenant.big.BigValue} and its
 * child {@link org.revenantdb.chaos.revenant.big.BigValueMain}.
 */
package org.revenantdb.chaos.revenant.big;
