/**
 * One value far larger than the heap: {@link org.revenantdb.suite.big.BigValue} and its child
 * {@link org.revenantdb.suite.big.BigValueMain}.
 */
package org.revenantdb.suite.big;
