/** Work of several threads that one of them does: {@code Combiner}. */
package org.revenantdb.collections.merge;
