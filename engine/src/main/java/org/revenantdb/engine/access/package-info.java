/**
 * What the engine may do with the API that its users may not, as {@code SharedSecrets} of the JDK.
 */
@NullMarked
package org.revenantdb.engine.access;

import org.jspecify.annotations.NullMarked;
