/** What parts of the engine cost, measured on their own. Nothing that runs a database uses it. */
@NullMarked
package org.revenantdb.engine.measure;

import org.jspecify.annotations.NullMarked;
