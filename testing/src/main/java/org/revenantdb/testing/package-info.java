/** What the tests of all modules share. */
@NullMarked
package org.revenantdb.testing;

import org.jspecify.annotations.NullMarked;
