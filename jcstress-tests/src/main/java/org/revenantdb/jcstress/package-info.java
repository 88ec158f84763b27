/**
 * Claims about the Java memory model on which a protocol of ours rests, each beside a broken twin.
 *
 * <p>Reading order: {@link org.revenantdb.jcstress.BrokenTwin} says what a twin is, {@link
 * org.revenantdb.jcstress.PublishBeforeReadStress} shows the form.
 */
@NullMarked
package org.revenantdb.jcstress;

import org.jspecify.annotations.NullMarked;
