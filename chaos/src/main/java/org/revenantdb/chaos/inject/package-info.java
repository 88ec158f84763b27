/**
 * Errors of the virtual machine as faults: an {@link java.lang.OutOfMemoryError} at a chosen
 * allocation, a {@link java.lang.StackOverflowError} at a chosen call. States and rules are in the
 * README.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.inject.ErrorSite}, {@link
 * org.revenantdb.chaos.inject.Target}, {@link org.revenantdb.chaos.inject.Injector}, {@link
 * org.revenantdb.chaos.inject.PointTransformer}, {@link
 * org.revenantdb.chaos.inject.InjectedClasses}, {@link org.revenantdb.chaos.inject.ErrorDraw}.
 */
package org.revenantdb.chaos.inject;
