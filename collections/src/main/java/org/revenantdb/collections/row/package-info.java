/** What the calls of a table share: buffers, text of keys for messages. */
package org.revenantdb.collections.row;
