/** What those who change a space map at once pay for each part of it. */
@NullMarked
package org.revenantdb.jmh.space;

import org.jspecify.annotations.NullMarked;
