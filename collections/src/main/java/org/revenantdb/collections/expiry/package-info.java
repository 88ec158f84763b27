/** Rows that expire: what is seen of them, and their removal. */
package org.revenantdb.collections.expiry;
