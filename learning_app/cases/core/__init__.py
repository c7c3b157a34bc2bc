"""What needs no database: what a model is asked and answers, clusters of cases, and private figures taken out."""
