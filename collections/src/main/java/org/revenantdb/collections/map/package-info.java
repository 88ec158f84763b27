/**
 * Tables as maps. Reading order: {@code MapWork} (in which transaction a call runs), {@code
 * Bounds}, {@code TableMap}, {@code MapRows} (iterators), {@code MapKeys}.
 */
package org.revenantdb.collections.map;
