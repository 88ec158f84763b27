/**
 * RevenantDB's own suite, a user of the framework beside it: the only packages here that know the
 * engine.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.revenant.DemoCommand} and package {@code demo};
 * {@link org.revenantdb.chaos.revenant.ModelCommand} and package {@code model}, to which {@link
 * org.revenantdb.chaos.revenant.RevenantStore} shows the engine; package {@code big}; package
 * {@code suite}.
 */
package org.revenantdb.chaos.revenant;
