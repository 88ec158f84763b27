/**
 * The commands {@code check}, {@code page} and {@code stat}, one class per verb. They need picocli,
 * which a user of the engine does not get; nothing else in the engine may use this package.
 *
 * <p>Reading order: {@code Main}; {@code CheckCommand}, which opens the database; {@code
 * PageCommand} and {@code StatCommand}, which read its files as they are, through {@code
 * DatabaseDirectory}.
 */
package org.revenantdb.engine.cli;
