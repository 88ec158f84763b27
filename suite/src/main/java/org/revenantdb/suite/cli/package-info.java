/**
 * The verbs of {@code ./revenant} in this module.
 *
 * <p>Reading order: {@link org.revenantdb.suite.cli.Main}, {@code HelpfulCommand} (common to all
 * verbs), {@code DirectoryCommand} (those with a directory), then one class for each verb, for
 * instance {@link org.revenantdb.suite.cli.DemoCommand}.
 */
package org.revenantdb.suite.cli;
