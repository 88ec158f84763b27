/**
 * {@code ./revenant demo}: real data, one kill, every byte verified.
 *
 * <p>Reading order: {@link org.revenantdb.suite.demo.Demo} from top to bottom, {@link
 * org.revenantdb.suite.demo.ImporterMain} (the child that is killed), {@code JdkFiles}, {@code
 * Contents}.
 */
package org.revenantdb.suite.demo;
